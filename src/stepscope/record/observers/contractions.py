"""Finds weights that were normalized along one axis and are then added up, or chosen from, along another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.common.ops import CASTS, NORMS, SOFTMAXES
from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.axis_history import axes_told, followed
from stepscope.evidence.contractions import Contractions, Crossing
from stepscope.evidence.origins import Origin
from stepscope.record.observers.fetch import here
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.value_sample import can_look

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_NORMALIZED = SOFTMAXES | {"normalize"}
_PRODUCTS = frozenset({"matmul", "bmm", "einsum"})
_CHOICES = frozenset({"argmax", "gather", "multinomial", "max", "nll_loss", "cross_entropy", "topk"})
_STABILISED = frozenset({"clamp", "clamp_min", "add", "detach"})
_MOST = 60
_LARGEST = 2**20


class ContractionObserver(Observer, Contractions):
    ops: ClassVar[frozenset[str]] = _PRODUCTS | _CHOICES | _NORMALIZED | {"sum", "mean"}

    def __init__(self, watcher: Watcher) -> None:
        Contractions.__init__(self)
        super().__init__(watcher)
        self._by_place: dict[Any, Crossing] = {}

    def op(self, call: Call) -> None:
        if not call.origins:
            return
        if call.name in _NORMALIZED:
            self._note_first_axis(call)
            return
        for origin, used, how in _uses(call):
            for axis in used:
                if axis < len(origin.shape):
                    self._follow(call, origin, axis, how, set(used))

    def _note_first_axis(self, call: Call) -> None:
        made = self.watcher.tensor_history.known(call.outputs[0]) if call.visit is not None and call.outputs else None
        if made is not None and len(made.shape) > 1 and made.shape[0] > 1 and _along(made) == (0,):
            known = self.first_axis.setdefault(call.place, [])
            if len(known) < 4:
                known.append(made)

    def _follow(self, call: Call, origin: Origin, axis: int, how: str, used: set[int]) -> None:
        found = followed(origin, axis, _is_normalised)
        if found is None or len(found[0].shape) < 2:
            return
        made, at = found
        along = _along(made)
        if len(along) != 1 or at == along[0]:
            return
        # Several axes may be added up at once; one of them may be the right one.
        others = (followed(origin, other, _is_normalised) for other in used - {axis})
        if any(other is not None and other[1] == along[0] for other in others):
            return
        key = (call.place, made.place, how)
        crossing = self._by_place.get(key)
        if crossing is None:
            if len(self.all) >= _MOST:
                return
            crossing = self._by_place[key] = Crossing(call.name, call.place, made, along[0], at, how)
            self.all.append(crossing)
        crossing.calls += 1
        if crossing.sums is None:
            self._measure(crossing, call, origin, axis)

    def _measure(self, crossing: Crossing, call: Call, origin: Origin, axis: int) -> None:
        tensor = next((t for t, known in zip(call.inputs, call.origins, strict=False) if known is origin), None)
        if crossing.made.op == "softmax" and tensor is not None and can_look(tensor) and tensor.numel() <= _LARGEST:
            with quietly():
                sums = raw.float(here(tensor)).sum(axis)
                crossing.sums = float(raw.item(sums.min())), float(raw.item(sums.max()))


def _is_normalised(origin: Origin) -> bool:
    return origin.op in _NORMALIZED or _norm_of(origin) is not None


def _norm_of(origin: Origin) -> Origin | None:
    """The norm in `x / x.norm(dim=0, keepdim=True)`."""
    if origin.op not in ("div", "true_divide") or len(origin.inputs) != 2:
        return None
    value, below = origin.inputs
    norm = below.back_through(_STABILISED)
    same = norm.op in NORMS and norm.inputs and norm.inputs[0].back_through(CASTS) is value.back_through(CASTS)
    return norm if same else None


def _along(made: Origin) -> tuple[int, ...]:
    """The axis it was normalized along; the one torch takes when none is told."""
    told = axes_told(_norm_of(made) or made)
    if told is not None:
        return told
    if made.op == "normalize":
        return (1,)
    if made.op not in _NORMALIZED:
        return ()
    rank = len(made.inputs[0].shape) if made.inputs else 0
    return (0,) if rank in (0, 1, 3) else (1,)


def _uses(call: Call) -> Iterator[tuple[Origin, tuple[int, ...], str]]:
    """(what is used, along which of its axes, how)"""
    origins = call.origins
    first = len(origins[0].shape)
    if call.name in ("matmul", "bmm") and len(origins) == 2 and first:
        second = len(origins[1].shape)
        yield origins[0], (first - 1,), "product"
        yield origins[1], (max(second - 2, 0),), "product"
    elif call.name == "einsum":
        yield from _of_einsum(call)
    elif call.name in ("sum", "mean"):
        yield from _of_sum(call)
    elif call.name in ("nll_loss", "cross_entropy") and first > 1:
        yield origins[0], (1,), "choice"
    elif call.name == "multinomial" and first > 1:
        yield origins[0], (first - 1,), "choice"
    elif call.name in _CHOICES and first > 1 and call.outputs:
        axis = call.argument(1, "dim")
        if isinstance(axis, int) and not isinstance(axis, bool) and -first <= axis < first:
            yield origins[0], (axis % first,), "choice"


def _of_einsum(call: Call) -> Iterator[tuple[Origin, tuple[int, ...], str]]:
    equation = call.args[0] if call.args else None
    if not isinstance(equation, str) or "..." in equation or "->" not in equation:
        return
    left, right = equation.replace(" ", "").split("->")
    operands = left.split(",")
    if len(operands) != len(call.origins) or len(operands) < 2:
        return
    for origin, letters in zip(call.origins, operands, strict=True):
        gone = tuple(place for place, letter in enumerate(letters) if letter not in right)
        if gone and len(letters) == len(origin.shape):
            yield origin, gone, "product"


def _of_sum(call: Call) -> Iterator[tuple[Origin, tuple[int, ...], str]]:
    """`(weights * values).sum(dim)`, and the `sum` by which a distribution makes probabilities add up to 1."""
    whole = call.origins[0]
    rank = len(whole.shape)
    told = call.argument(1, "dim", call.kwargs.get("axis"))
    several = told if isinstance(told, (list, tuple)) else [told]
    axes = tuple(axis % rank for axis in several if isinstance(axis, int) and not isinstance(axis, bool) and rank)
    if axes and not call.direct and call.name == "sum":
        yield whole, axes, "choice"
    if axes and whole.op in ("mul", "multiply") and len(whole.inputs) == 2:
        for part in whole.inputs:
            missing = rank - len(part.shape)
            mine = tuple(axis - missing for axis in axes if axis >= missing)
            if mine and all(part.shape[axis] == whole.shape[axis + missing] for axis in mine):
                yield part, mine, "sum"
