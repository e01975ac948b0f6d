"""Follows which values of what is learned the script takes out of torch while it trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.evidence.host_reads import HostRead, HostReads
from stepscope.evidence.origins import OUTPUT, PARAMETER
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.record.observers.tensor_history import Call
    from stepscope.record.observers.watcher import Watcher

_KEPT = 400


class HostReadObserver(Observer, HostReads):
    ops = frozenset({"item", "float", "numpy", "tolist"})

    def __init__(self, watcher: Watcher) -> None:
        HostReads.__init__(self)
        super().__init__(watcher)

    def op(self, call: Call) -> None:
        if not call.grad or not call.origins or len(self.all) >= _KEPT:
            return
        origin = call.origins[0]
        if not origin.tags & (PARAMETER | OUTPUT):
            return
        value = float(call.result) if isinstance(call.result, (int, float)) else None
        done, watcher = self.watcher.steps.backward_count, self.watcher
        self.all.append(HostRead(origin, call.place, watcher.step, done, watcher.tensor_history.ops, value))
