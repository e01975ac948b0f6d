"""Counts how often the rows of a training batch were made again and are the same as before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.evidence.repeated_draws import RepeatedDraw, RepeatedDraws
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher

__all__ = ["RepeatedDrawObserver"]

_MOST = 1000
_LEAST = 3


class RepeatedDrawObserver(Observer, RepeatedDraws):
    def __init__(self, watcher: Watcher) -> None:
        RepeatedDraws.__init__(self)
        super().__init__(watcher)
        self._seen: dict[tuple[Any, ...], tuple[RepeatedDraw, Any, int]] = {}
        """Each with the tensor's origin of the last time, and the step."""

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        fed = self.watcher.batches_fed.running
        if fed is None or not visit.grad or fed.loader is not None or fed.origin is None or len(set(fed.marks)) < 2:
            return
        key = (visit.type, fed.marks[0], fed.marks[-1], len(fed.marks))
        known = self._seen.get(key)
        if known is None:
            if len(self._seen) < _MOST:
                found = RepeatedDraw(visit.type, visit.place, fed.origin, len(fed.marks))
                self._seen[key] = (found, fed.origin, visit.step)
        elif _is_made_again(known[1], fed.origin) and known[2] != visit.step:
            known[0].times += 1
            self._seen[key] = (known[0], fed.origin, visit.step)
            if known[0].times == _LEAST:
                self.all.append(known[0])


def _is_made_again(before: Any, now: Any) -> bool:
    """The same operation has run again: not a tensor that is used again, and whose history was forgotten."""
    return before is not now and before.op == now.op and before.place is now.place and before.index != now.index
