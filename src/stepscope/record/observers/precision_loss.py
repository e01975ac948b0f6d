"""Sees fractions lost on the way to an integer, and constants that are zero in the type they are added to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.precision_loss import LostEps, PrecisionLoss, Truncation
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.names import dtype_name
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_TO_INTEGER = frozenset({"long", "int", "to", "type", "short", "byte", "char"})
_FLOORS = frozenset({"floor_divide", "floor_divide_"})
_ADDS = frozenset({"add", "add_", "clamp", "clamp_", "clamp_min", "clamp_min_", "clip", "maximum"})
_LOOKS = 10
_LARGEST = 2**20
_MOST = 50


class PrecisionLossObserver(Observer, PrecisionLoss):
    ops: ClassVar[frozenset[str]] = _TO_INTEGER | _FLOORS | _ADDS

    def __init__(self, watcher: Watcher) -> None:
        PrecisionLoss.__init__(self)
        super().__init__(watcher)
        self._looks: dict[int, int] = {}

    def op(self, call: Call) -> None:
        if not call.inputs or not call.outputs or call.place is None:
            return
        if call.name in _ADDS:
            self._look_for_eps(call)
        elif call.name in _FLOORS:
            if not call.outputs[0].is_floating_point() and self._may_look(call):
                self._floored(call)
        elif call.inputs[0].is_floating_point() and _is_integer(call.outputs[0]) and self._may_look(call):
            self._cast(call)

    def _may_look(self, call: Call) -> bool:
        assert call.place is not None
        key = id(call.place)
        seen = self._looks.get(key, 0)
        self._looks[key] = seen + 1
        both = call.inputs[0], call.outputs[0]
        if seen >= _LOOKS or any(is_transformed(one) or one.layout is not torch.strided for one in both):
            return False
        return bool(1 < both[0].numel() <= _LARGEST) and all(map(can_fetch, both))

    def _look_for_eps(self, call: Call) -> None:
        dtype = call.outputs[0].dtype
        if dtype is not torch.float16 or len(self.lost_eps) >= _MOST:
            return
        for value in (*call.args[1:2], call.kwargs.get("min"), call.kwargs.get("other")):
            if isinstance(value, float) and 0 < value <= 2**-25 and call.direct:
                self.lost_eps.append(LostEps(call.name, call.place, value, dtype_name(dtype)))

    def _floored(self, call: Call) -> None:
        made, numerator = here(call.outputs[0]), here(call.inputs[0])
        if bool(raw.item(made.any())) or not bool(raw.item(numerator.any())):
            return
        self._keep(call, Truncation("floor", call.name, call.place))

    def _cast(self, call: Call) -> None:
        before, after = call.inputs[0], call.outputs[0]
        if before.shape != after.shape:
            return
        before, after = here(before), here(after)
        lost = float(raw.item(raw.double((before - after).abs()).mean()))
        if lost > 0:
            spread = float(raw.item(raw.double(before).std()))
            kinds = int(after.unique().numel())
            self._keep(call, Truncation("cast", call.name, call.place, lost, spread, kinds))

    def _keep(self, call: Call, cut: Truncation) -> None:
        origin = self.watcher.tensor_history.known(call.outputs[0])
        if origin is not None and len(self.cuts) < _MOST:
            origin.spot = cut
            self.cuts.append(origin)


def _is_integer(tensor: Any) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype is torch.bool)
