"""Counts how many graphs dynamo has made by each step. Read off its own counters; nothing is hooked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from stepscope.evidence.compiling import Compiling
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.steps import Step
    from stepscope.record.observers.watcher import Watcher

_KEPT = 500


class CompilingObserver(Observer, Compiling):
    """Told of every step once something was compiled."""

    def __init__(self, watcher: Watcher) -> None:
        Compiling.__init__(self)
        super().__init__(watcher)

    def step_done(self, step: Step, optimizer: Any) -> None:
        utils = sys.modules.get("torch._dynamo.utils")
        if utils is not None and self.watcher.compiled is not None and len(self.graphs) < _KEPT:
            self.graphs.append(int(utils.counters["stats"]["unique_graphs"]))
