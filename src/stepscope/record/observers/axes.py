"""Sees `view` and `reshape` where axes should have been swapped, so that rows of one thing become rows of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stepscope.common.ops import FACTORIES
from stepscope.evidence.axes import Axes, Mixed
from stepscope.evidence.origins import CONSTANT, PARAMETER
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
_MOST = 40


class AxisObserver(Observer, Axes):
    ops: ClassVar[frozenset[str]] = frozenset({"view", "reshape", "flatten", "cross_entropy", "nll_loss"})

    def __init__(self, watcher: Watcher) -> None:
        Axes.__init__(self)
        super().__init__(watcher)
        self._by_place: dict[Any, Mixed] = {}

    def op(self, call: Call) -> None:
        if not call.origins:
            return
        if call.name in ("cross_entropy", "nll_loss"):
            self._flattened_logits(call)
            return
        if len(call.outputs) != 1:
            return
        origin = call.origins[0]
        before, after = tuple(call.inputs[0].shape), tuple(call.outputs[0].shape)
        if len(before) < 2 or origin.op in FACTORIES or origin.kind in ("parameter", "buffer"):
            return
        if origin.tags and not origin.tags & ~(PARAMETER | CONSTANT):  # weights or tables, no data
            return
        how = mixes(before, after)
        if not how and origin.op in _RECURRENT and _last_states_as_rows(before, after):
            how = "the layers (or directions) of the last state lie before the batch"
        if how:
            self._keep(call, how)

    def _keep(self, call: Call, how: str) -> None:
        mixed = self._by_place.get(call.place)
        if mixed is None:
            if len(self.all) >= _MOST:
                return
            shapes = tuple(call.inputs[0].shape), tuple(call.outputs[0].shape)
            mixed = Mixed(call.name, call.place, call.visit, call.origins[0], *shapes, how)
            self._by_place[call.place] = mixed
            self.all.append(mixed)
        mixed.count += 1
        mixed.result = self.watcher.tensor_history.known(call.outputs[0])

    def _flattened_logits(self, call: Call) -> None:
        """(N, C, T) taken as (N*T, C): classes must be moved last before."""
        logits, origin = call.inputs[0], call.origins[0]
        if logits.ndim != 2 or origin.op not in ("view", "reshape", "flatten") or not origin.inputs:
            return
        before, classes = origin.inputs[0].shape, logits.shape[1]
        inner = [size for size in before[2:] if size != 1]
        if len(before) < 3 or before[1] != classes or not inner or before[-1] == classes or origin.place is None:
            return
        mixed = self._by_place.get(origin.place)
        if mixed is None:
            how = "the classes are the second axis, not the last"
            mixed = Mixed(origin.op, origin.place, origin.visit, origin.inputs[0], before, origin.shape, how)
            self._by_place[origin.place] = mixed
            self.all.append(mixed)
        mixed.count += 1


def mixes(before: tuple[int, ...], after: tuple[int, ...]) -> str:
    """Why a reshape between these shapes cannot be what was meant; "" when it can.

    >>> mixes((8, 32, 24, 3), (8, 3, 32, 24))
    'the sizes are those of a permutation'
    >>> mixes((8, 1, 28, 28), (8, 28, 28, 1))
    ''
    """
    old, new = tuple(size for size in before if size != 1), tuple(size for size in after if size != 1)
    if len(old) == len(new) >= 2 and old != new and sorted(old) == sorted(new):
        return "the sizes are those of a permutation"
    if len(before) == 4 and len(after) == 3 and before[0] == after[0]:
        _, heads, steps, width = before
        if heads > 1 and steps > 1 and heads != steps and after[1] == steps and after[2] == heads * width:
            return "the heads lie before the steps"
    if len(before) == 3 and len(after) == 4 and before[0] == after[0]:
        _, heads, steps, width = after
        if heads > 1 and steps > 1 and heads != steps and before[1] == steps and before[2] == heads * width:
            return "the heads come out of the last axis, not before the steps"
    return ""


def _last_states_as_rows(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """(layers, batch, width) taken as (batch, layers * width)."""
    return (
        len(before) == 3
        and len(after) == 2
        and before[0] > 1
        and before[1] > 1
        and before[0] != before[1]
        and after == (before[1], before[0] * before[2])
    )
