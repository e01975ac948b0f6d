"""Layers: the calls inside the last followed call of each model, in order."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from stepscope.record.watch.nets import live
from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.watch.models import Model
    from stepscope.record.watch.watcher import Watcher

__all__ = ["Layers"]


class Layers(Witness):
    """`run.layers`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self._calls: dict[Model, list[Visit]] = {}
        self.ever: weakref.WeakSet[Any] = weakref.WeakSet()
        """Every module that was seen running."""

    @property
    def calls(self) -> dict[Any, list[Visit]]:
        """Root module -> the visits of its last training call that was followed, its own first."""
        found = ((model.module, visits) for model, visits in self._calls.items())
        return {module: visits for module, visits in found if module is not None}

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not self.watcher.trail.on:
            return
        visits = self.watcher.visits.latest
        for inner in visits:
            called = live(inner.module)
            if called is not None:
                self.ever.add(called)
        if visit.grad and len(visits) > 1 and visits[0] is visit:
            model = self.watcher.models.known(module)
            if model is not None:
                self._calls[model] = visits
