"""Keeps the calls inside the last followed call of each model, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.evidence.layers import Layers
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher


class LayerObserver(Observer, Layers):
    def __init__(self, watcher: Watcher) -> None:
        Layers.__init__(self)
        super().__init__(watcher)

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not self.watcher.tensor_history.on:
            return
        visits = self.watcher.visits.latest
        for inner in visits:
            inner.module.called = True
        if visit.grad and len(visits) > 1 and visits[0] is visit and self.watcher.models.known(module) is not None:
            self.calls[visit.module] = visits

    def settle(self) -> None:
        """Models that are gone are not judged."""
        alive = {id(model.module) for model in self.watcher.models.roots if model.live() is not None}
        self.calls = {module: visits for module, visits in self.calls.items() if id(module) in alive}
