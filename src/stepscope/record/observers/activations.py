"""Looks for units that are always zero, and squashing functions that are always at their ends."""

from __future__ import annotations

from operator import and_
from typing import TYPE_CHECKING

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.activations import Activation, Activations
from stepscope.record.observers.fetch import can_fetch, here, is_far
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_LOOKS = 12
_LARGEST, _LARGEST_FAR = 2**21, 2**18
_CLOSE = {"tanh": 0.99, "sigmoid": 0.99}


class ActivationObserver(Observer, Activations):
    ops = frozenset(("relu", "relu_", "tanh", "sigmoid", "linear", "conv1d", "conv2d", "conv3d", "matmul"))

    def __init__(self, watcher: Watcher) -> None:
        Activations.__init__(self)
        super().__init__(watcher)

    def op(self, call: Call) -> None:
        if call.visit is None or not call.grad or not call.visit.training:
            return
        if call.name in ("relu", "relu_", "tanh", "sigmoid"):
            self._look(call)
        elif call.origins:
            source = call.origins[0]
            while source.op in ("dropout", "flatten", "view", "reshape", "getitem", "max_pool2d") and source.inputs:
                source = source.inputs[0]
            if source.op in ("relu", "relu_", "tanh", "sigmoid"):
                known = self.all.get((source.op, source.place, source.visit.path if source.visit is not None else ""))
                if known is not None:
                    known.inside = True

    def _look(self, call: Call) -> None:
        made = call.outputs[0] if call.outputs else None
        if (
            type(made) is not torch.Tensor
            or is_transformed(made)
            or made.ndim < 2
            or made.numel() > (_LARGEST_FAR if is_far(made) else _LARGEST)
            or not can_fetch(made)
        ):
            return
        path = call.visit.path if call.visit is not None else ""
        key = (call.name, call.place, path)
        known = self.all.get(key)
        if known is None:
            known = self.all[key] = Activation(call.name, call.place, path)
            known.first_step = self.watcher.step
        if known.calls >= _LOOKS or made.shape[0] < 2:
            return
        known.calls += 1
        known.last_step = self.watcher.step
        values = here(made)
        if call.name in _CLOSE:
            ends = values.abs() if call.name == "tanh" else (values - 0.5).abs() * 2
            known.shares.append(float(raw.item(raw.double(ends > _CLOSE[call.name]).mean())))
            return
        zero = values == 0
        known.shares.append(float(raw.item(raw.double(zero).mean())))
        axis = 1 if values.ndim > 3 or (values.ndim == 3 and path and "conv" in path.lower()) else values.ndim - 1
        idle: list[bool] = raw.tolist(zero.movedim(axis, 0).flatten(1).all(dim=1))
        before = known.idle
        is_alike = before is not None and len(before) == len(idle)
        known.idle = list(map(and_, before, idle)) if before is not None and is_alike else idle
