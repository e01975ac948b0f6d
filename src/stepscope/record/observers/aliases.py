"""Looks once at each optimizer for parameters that are different objects over the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.evidence.aliases import Alias, Aliases
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.steps import Step
    from stepscope.record.observers.watcher import Watcher

_KEPT = 100
_PLAIN = (torch.nn.Parameter, torch.Tensor)
"""Sharded and quantized tensors are left out: their addresses say nothing about their numbers."""


class AliasObserver(Observer, Aliases):
    def __init__(self, watcher: Watcher) -> None:
        Aliases.__init__(self)
        super().__init__(watcher)
        self._looked: set[int] = set()

    def step_begins(self, step: Step, optimizer: Any) -> None:
        if step.optimizer in self._looked or len(self.all) >= _KEPT:
            return
        self._looked.add(step.optimizer)
        by_memory: dict[Any, list[Any]] = {}
        for tensor in (one for group in optimizer.param_groups for one in group["params"]):
            if type(tensor) in _PLAIN and tensor.device.type != "meta" and (start := tensor.data_ptr()):
                by_memory.setdefault((tensor.device, start, tensor.numel(), tensor.dtype), []).append(tensor)
        for same in by_memory.values():
            if len(same) > 1:
                self.all.append(Alias(step.optimizer, [self.watcher.module_records.parameter(one) for one in same]))
