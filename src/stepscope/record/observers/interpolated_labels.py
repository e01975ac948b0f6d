"""Follows whole numbers that are interpolated and cut off to whole numbers again: masks resized like pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.common.ops import VIEWS
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.interpolated_labels import InterpolatedLabels, Resized
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.steps import Backward
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_THROUGH = VIEWS | {"round", "floor", "ceil", "trunc"}
_EXACT = frozenset({"nearest", "nearest-exact"})
_BATCH_AXES = 4
_LOOKS = 200
_OPEN = 64
_LARGEST = 2**18
_MOST_LABELS = 64


class InterpolatedLabelObserver(Observer, InterpolatedLabels):
    ops = frozenset({"interpolate", "long", "to", "type", "int"})

    def __init__(self, watcher: Watcher) -> None:
        InterpolatedLabels.__init__(self)
        super().__init__(watcher)
        self._open: dict[int, tuple[Origin, str, int]] = {}
        self._looks = 0
        self._ids: list[tuple[Place | None, str, frozenset[int], tuple[int, ...]]] = []
        """Of interpolations, also of those before close looking: where, how, the ids that went in, the size after."""

    def install(self, installed: Installed) -> None:
        installed.after("torch.nn.functional:interpolate", "following an interpolation", self._resized)

    def _resized(self, frame: Any, result: Any, given: Any, *args: Any, **kwargs: Any) -> None:
        mode = str(kwargs.get("mode", args[2] if len(args) > 2 else "nearest"))
        if mode in _EXACT or len(self._ids) >= _OPEN or not self.watcher.listens():
            return
        if not isinstance(given, torch.Tensor) or given.requires_grad or not can_look(given):
            return
        with quietly():
            values = raw.detach(given)[:_BATCH_AXES].unique()
            if 2 < values.numel() <= _MOST_LABELS and bool(raw.item((values == values.round()).all())):
                ids = frozenset(int(value) for value in raw.tolist(raw.detach(given).unique()))
                self._ids.append((own_place(frame), mode, ids, tuple(result.shape[-2:])))

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        """Targets with ids that were not there before an interpolation, but lie between those that were."""
        for place, mode, ids, size in self._ids:
            for call in list(self.watcher.losses.calls)[-2:]:
                found = set(call.counts or ())
                low, high = min(ids), max(ids)
                if call.shapes.get("target", ())[-2:] != size or not found - ids or not low <= min(found):
                    continue
                if max(found) <= high and place is not None:
                    self._new_ids(place, mode, len(ids))

    def _new_ids(self, place: Place, mode: str, values: int) -> None:
        if any(one.interpolated is place for one in self.all):
            return
        known = next((one for one in self.all if one.place is place), None)
        if known is None and len(self.all) < _OPEN:
            known = Resized(place, None, mode, values)
            self.all.append(known)
        if known is not None:
            known.count += 1

    def op(self, call: Call) -> None:
        if call.name == "interpolate":
            self._interpolated(call)
        elif self._open and call.origins and call.place is not None and _is_label(call.result):
            origin = call.origins[0].back_through(_THROUGH)
            found = self._open.get(id(origin))
            if found is not None:
                self._note(call, *found)

    def _interpolated(self, call: Call) -> None:
        mode = str(call.argument(3, "mode", "nearest"))
        if mode in _EXACT or self._looks >= _LOOKS or not call.inputs or not call.outputs or call.grad is None:
            return
        before, after = call.inputs[0], call.outputs[0]
        if before.requires_grad or not can_look(before) or before.numel() > _LARGEST or not can_look(after):
            return
        self._looks += 1
        with quietly():
            values = _whole_values(before)
            fractions = bool(raw.item((after != after.round()).any()))
        origin = self.watcher.tensor_history.known(after)
        if fractions and 2 < values <= _MOST_LABELS and origin is not None:
            self._open[id(origin)] = (origin, mode, values)
            if len(self._open) > _OPEN:
                del self._open[next(iter(self._open))]

    def _note(self, call: Call, origin: Origin, mode: str, values: int) -> None:
        known = next((one for one in self.all if one.place is call.place), None)
        if known is None and call.place is not None and len(self.all) < _OPEN:
            known = Resized(call.place, origin.place, mode, values)
            self.all.append(known)
        if known is not None:
            known.count += origin.shape[0] if len(origin.shape) == _BATCH_AXES else 1


def _is_label(result: Any) -> bool:
    return type(result) is torch.Tensor and result.dtype is torch.int64


def _whole_values(tensor: Any) -> int:
    """How many different numbers there are, if all of them are whole; else 0."""
    values = tensor.unique()
    return int(values.numel()) if bool(raw.item((values == values.round()).all())) else 0
