"""Finds losses written by hand, `(prediction - target) ** 2`, and the range of their targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.manual_losses import ManualLoss, ManualLosses
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_LOOKS = 6
_LARGEST = 2**20
_MOST = 200


class ManualLossObserver(Observer, ManualLosses):
    ops: ClassVar[frozenset[str]] = frozenset({"sub"})

    def __init__(self, watcher: Watcher) -> None:
        ManualLosses.__init__(self)
        super().__init__(watcher)
        self._looks: dict[int, int] = {}

    def op(self, call: Call) -> None:
        if len(call.inputs) != 2 or not call.outputs or call.place is None or not call.direct:
            return
        grads = [tensor.requires_grad for tensor in call.inputs]
        if grads.count(True) != 1 or call.inputs[0].shape != call.inputs[1].shape or len(self.all) >= _MOST:
            return
        target, prediction = call.inputs[grads.index(False)], call.origins[grads.index(True)]
        key = id(call.place)
        seen = self._looks.get(key, 0)
        self._looks[key] = seen + 1
        if seen < _LOOKS and _can_look(target):
            result = self.watcher.tensor_history.known(call.outputs[0])
            low, high = raw.aminmax(here(target))
            span = float(raw.item(low)), float(raw.item(high))
            self.all.append(ManualLoss(call.place, prediction, result, *span))


def _can_look(tensor: Any) -> bool:
    plain = type(tensor) is torch.Tensor and tensor.is_floating_point() and tensor.layout is torch.strided
    return plain and 1 < tensor.numel() <= _LARGEST and not is_transformed(tensor) and can_fetch(tensor)
