"""Layers: the calls inside the last followed call of each model, in order."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from stepscope.record.watch.witness import Witness

if TYPE_CHECKING:
    from stepscope.record.watch.visits import Visit
    from stepscope.record.watch.watcher import Watcher

__all__ = ["Layers"]


class Layers(Witness):
    """`run.layers`"""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(watcher)
        self.calls: weakref.WeakKeyDictionary[Any, list[Visit]] = weakref.WeakKeyDictionary()
        """Root module -> the visits of its last training call that was followed, its own first."""
        self.ever: weakref.WeakSet[Any] = weakref.WeakSet()
        """Every module that was seen running."""

    def root_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not self.watcher.trail.on:
            return
        visits = self.watcher.visits.latest
        for inner in visits:
            called = inner.module()
            if called is not None:
                self.ever.add(called)
        if visit.grad and len(visits) > 1 and visits[0] is visit:
            self.calls[module] = visits
