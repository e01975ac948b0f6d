"""Watches areas and overlaps of boxes: differences of corners that are multiplied though they are negative.

The area of a box is recognized by how it is computed: two differences, each between two parts of the same tensor, and
their product. The overlap of two boxes: two differences, each between a minimum and a maximum, and their product.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.box_arithmetic import BoxArea, BoxArithmetic
from stepscope.evidence.origins import OUTPUT, PARAMETER
from stepscope.record.observers.fetch import here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_places
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["BoxArithmeticObserver"]

_LOOKS = 12
_LARGEST = 2**18
_PARTS = frozenset({"getitem", "select", "unbind", "chunk", "split", "narrow", "iter"})
_CLAMPS = frozenset({"clamp", "clamp_", "clamp_min", "clip", "relu", "relu_"})
_VIEWS = frozenset({"getitem", "select", "unsqueeze", "squeeze", "unbind"})
_LOW = frozenset({"minimum", "min"})
_HIGH = frozenset({"maximum", "max"})
_GEOMETRY = re.compile(r"iou|area|overlap|inter|union|size", re.IGNORECASE)


class BoxArithmeticObserver(Observer, BoxArithmetic):
    ops: ClassVar[frozenset[str]] = frozenset({"sub", "mul", "prod"})

    def __init__(self, watcher: Watcher) -> None:
        BoxArithmetic.__init__(self)
        super().__init__(watcher)
        self._kept: dict[int, tuple[Origin, float]] = {}
        """By the origin of a difference: it, and the share of negative values; -1 of a difference of two boxes."""
        self._looks: dict[Place | None, int] = {}

    def op(self, call: Call) -> None:
        if call.place is None or self._looks.get(call.place, 0) >= _LOOKS or not call.outputs:
            return
        if call.name == "sub":
            self._difference(call)
        else:
            self._product(call)

    def step_done(self, step: Any, optimizer: Any) -> None:
        self._kept.clear()

    # Differences

    def _difference(self, call: Call) -> None:
        if len(call.origins) != 2 or not can_look(call.outputs[0]) or not 2 <= call.outputs[0].numel() <= _LARGEST:
            return
        first, second = call.origins
        known = self.watcher.tensor_history.known(call.outputs[0])
        if known is None or len(self._kept) > 200:
            return
        if _are_corners(first, second, known.shape) and not first.tags & (PARAMETER | OUTPUT):
            self._looks[call.place] = self._looks.get(call.place, 0) + 1
            with quietly():
                self._kept[id(known)] = known, raw.item(raw.mean(raw.float(here(call.outputs[0]) < 0)))
        elif first.op in _LOW and second.op in _HIGH:
            self._kept[id(known)] = known, -1.0

    # Products

    def _product(self, call: Call) -> None:
        found = [self._behind(origin) for origin in call.origins]
        if not found or any(one is None for one in found) or len(found) != (1 if call.name == "prod" else 2):
            return
        if call.name == "mul" and call.origins[0] is call.origins[1]:
            return  # a square
        shares = [one[1] for one in found if one is not None]
        if call.name == "prod" and call.inputs[0].shape[-1:] != (2,):
            return
        if min(shares) >= 0:
            self._note("size", call, sum(shares) / len(shares))
        elif max(shares) < 0 and not any(_is_clamped(origin) for origin in call.origins):
            self._looks[call.place] = self._looks.get(call.place, 0) + 1
            self._note("overlap", call, _both_negative(call.inputs))

    def _behind(self, origin: Origin) -> tuple[Origin, float] | None:
        """The difference that one factor is a part of."""
        for _ in range(4):
            if id(origin) in self._kept:
                return self._kept[id(origin)]
            if origin.op not in _CLAMPS | _VIEWS or not origin.inputs:
                return None
            origin = origin.inputs[0]
        return None

    def _note(self, kind: str, call: Call, negative: float) -> None:
        places = own_places(8)
        around = next((one for one in places if not _GEOMETRY.search(one.function)), places[0] if places else None)
        if call.place is None or around is None:
            return
        for one in self.all:
            if one.kind == kind and one.place is call.place and one.around is around:
                break
        else:
            if len(self.all) >= 40:
                return
            one = BoxArea(kind, call.place, around)
            self.all.append(one)
        one.negative = (one.negative * one.looks + negative) / (one.looks + 1)
        one.looks += 1


def _are_corners(first: Origin, second: Origin, shape: tuple[int, ...]) -> bool:
    """Two parts of the same tensor of four columns or a few more: one column of each row, or two."""
    if first.op not in _PARTS or first.op != second.op or not first.inputs or not second.inputs:
        return False
    whole = first.inputs[0]
    if whole is not second.inputs[0] or first is second or whole.shape[-1:] not in ((4,), (5,), (6,)):
        return False
    return shape == whole.shape[:-1] or (shape == (*whole.shape[:-1], 2) and whole.shape[-1] == 4)


def _is_clamped(origin: Origin) -> bool:
    for _ in range(4):
        if origin.op in _CLAMPS:
            return True
        if origin.op not in _VIEWS or not origin.inputs:
            return False
        origin = origin.inputs[0]
    return False


def _both_negative(factors: list[Any]) -> float:
    if not all(can_look(one) and one.numel() <= _LARGEST for one in factors):
        return 0.0
    with quietly():
        near = [here(one) for one in factors]
        one, other = (near[0][..., 0], near[0][..., 1]) if len(near) == 1 else near
        return float(raw.item(raw.mean(raw.float((one < 0) & (other < 0)))))
