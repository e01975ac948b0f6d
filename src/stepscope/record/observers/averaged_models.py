"""Looks at models in evaluation whose batch norms never saw a batch while their weights follow a trained model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.averaged_models import AveragedModel, AveragedModels
from stepscope.record.observers.fetch import can_fetch, here
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["AveragedModelObserver"]

_KEPT = 20
_WRITES = 4000


class AveragedModelObserver(Observer, AveragedModels):
    ops: ClassVar[frozenset[str]] = frozenset({"lerp_", "mul_", "add_", "copy_", "sub_"})

    def __init__(self, watcher: Watcher) -> None:
        AveragedModels.__init__(self)
        super().__init__(watcher)
        self._written: dict[int, Place] = {}
        """By the address of a tensor: where an operation of the user's wrote into it while training went on."""
        self._looked: set[int] = set()

    def op(self, call: Call) -> None:
        if not self.watcher.step or call.place is None or call.visit is not None or len(self._written) >= _WRITES:
            return
        first: Any = call.inputs[0] if call.inputs else None
        if type(first) in (torch.Tensor, torch.nn.Parameter) and first.dim() and first.device.type != "meta":
            self._written.setdefault(first.data_ptr(), call.place)

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        if visit.grad or visit.training or not self.watcher.step or len(self.all) >= _KEPT:
            return
        if id(module) in self._looked:
            return
        norms = _norms(module)
        if not norms or not all(map(_is_untouched, norms.values())) or self._is_trained(module):
            return
        self._looked.add(id(module))
        batches = self._batches_of_twin(module, list(norms.values()))
        places = (self._written.get(parameter.data_ptr()) for parameter in module.parameters())
        updated = next((place for place in places if place is not None), None)
        if batches and updated is not None:
            self.all.append(AveragedModel(visit.type, visit.place, updated, list(norms), batches))

    def _is_trained(self, module: Any) -> bool:
        held = {id(p) for made in self.watcher.optimizers.made for p in made.alive()}
        return any(id(p) in held for p in module.parameters())

    def _batches_of_twin(self, module: Any, norms: list[Any]) -> int:
        """How many batches the batch norms of a trained model of the same build have seen."""
        shapes = sorted(tuple(p.shape) for p in module.parameters())
        for model in self.watcher.models.roots:
            other = live(model.module)
            if other is None or other is module or not self._is_trained(other):
                continue
            if sorted(tuple(p.shape) for p in other.parameters()) == shapes:
                seen = [_number(norm.num_batches_tracked) for norm in _norms(other).values()]
                if len(seen) == len(norms):
                    return int(min(seen))
        return 0


def _norms(module: Any) -> dict[str, Any]:
    found = {name: part for name, part in module.named_modules() if isinstance(part, _BatchNorm)}
    return {name: part for name, part in found.items() if part.running_mean is not None}


def _is_untouched(norm: Any) -> bool:
    """It is as it was made: it never saw a batch, and nothing was copied into it."""
    mean, variance = norm.running_mean, norm.running_var
    if not can_fetch(mean) or not can_fetch(variance) or _number(norm.num_batches_tracked):
        return False
    return not bool(raw.item(here(mean).any())) and bool(raw.item((here(variance) == 1).all()))


def _number(tensor: Any) -> float:
    return float(raw.item(here(tensor))) if isinstance(tensor, torch.Tensor) and can_fetch(tensor) else 0.0
