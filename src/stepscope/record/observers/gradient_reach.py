"""Follows, with several optimizers, whose parameters each backward gives gradients to, and through which models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.events.unpatched_torch import raw
from stepscope.evidence.gradient_reach import GradientReach, Reach
from stepscope.record.observers.module_records import live
from stepscope.record.observers.observer import Observer
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.evidence.steps import Backward
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher

_LOOKS = 48
_ANCESTORS = 6000


class GradientReachObserver(Observer, GradientReach):
    def __init__(self, watcher: Watcher) -> None:
        GradientReach.__init__(self)
        super().__init__(watcher)
        self._before: dict[int, list[Any]] = {}

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        self._before = {}
        if backward.accumulates and len(self.watcher.optimizers.made) > 1 and len(self.all) < _LOOKS:
            self._before = {number: _state(parameters) for number, parameters in self._samples()}

    def backward_done(self, backward: Backward) -> None:
        if not self._before:
            return
        reached = {number for number, now in self._samples() if _state(now) != self._before.get(number)}
        self._before = {}
        reach = Reach(backward, reached)
        self.all.append(reach)
        if len(reached) > 1 and backward.origin is not None:
            self._order(reach)

    def _samples(self) -> list[tuple[int, list[Any]]]:
        """The first and the last parameter of each optimizer."""
        found = []
        for made in self.watcher.optimizers.made[-8:]:
            ends = made.parameters[:1] + made.parameters[-1:]
            alive = [p for record in ends if (p := live(record)) is not None]
            if alive:
                found.append((made.number, alive))
        return found

    def _order(self, reach: Reach) -> None:
        """Which models fed which on the way to this loss."""
        if reach.backward.origin is None:
            return
        visits: dict[int, Visit] = {}
        for origin in reach.backward.origin.ancestors(_ANCESTORS, through=lambda o: o.requires_grad):
            if origin.visit is not None and origin.requires_grad:
                visits[id(origin.visit.root)] = origin.visit.root
        owners = {key: self._owner(visit) for key, visit in visits.items()}
        for key, visit in visits.items():
            mine = owners[key]
            for given in visit.inputs if mine is not None else ():
                for origin in given.ancestors(_ANCESTORS, through=lambda o: o.requires_grad):
                    other = owners.get(id(origin.visit.root)) if origin.visit is not None else None
                    if other is not None and mine is not None and other != mine and origin.requires_grad:
                        reach.feeds.setdefault((other, mine), visit)

    def _owner(self, visit: Visit) -> int | None:
        module = live(visit.module)
        first = None if module is None else next((p for p in module.parameters() if p.requires_grad), None)
        if first is None:
            return None
        record = self.watcher.module_records.parameter(first)
        return next((made.number for made in self.watcher.optimizers.made if made.holds(record)), None)


def _state(parameters: list[Any]) -> list[Any]:
    """What tells whether a gradient has been added to: the tensor, and how often it was written to."""
    found: list[Any] = []
    for parameter in parameters:
        gradient = parameter.grad
        if gradient is None or is_transformed(gradient):
            found.append(None)
            continue
        plain = gradient.layout is torch.strided and gradient.device.type == "cpu"
        found.append((id(gradient), gradient._version, float(raw.item(gradient.sum())) if plain else None))
    return found
