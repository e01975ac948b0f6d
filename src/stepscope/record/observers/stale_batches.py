"""Notices a model that is given the same batch of another loader in each turn of a loop over a loader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.evidence.stale_batches import StaleBatch, StaleBatches
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["StaleBatchObserver"]

_KEPT = 20


class StaleBatchObserver(Observer, StaleBatches):
    def __init__(self, watcher: Watcher) -> None:
        StaleBatches.__init__(self)
        super().__init__(watcher)
        self._loader: Loader | None = None
        """Of the turn that runs."""
        self._own = False
        """A model has got that turn's own batch."""
        self._now: dict[Place, tuple[Loader, int]] = {}
        """By line: the other loader whose batch a model got in this turn, and the mark of its first row."""
        self._before: dict[Place, tuple[Loader, int]] = {}

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        fed, current = self.watcher.batches_fed.running, self.watcher.loaders.current
        if fed is None or current is None or visit.place is None:
            return
        if fed.loader is None or fed.loader is current:
            self._own = True  # what is made by hand may come from the loop's own batch
        elif fed.marks:
            self._now[visit.place] = fed.loader, fed.marks[0]

    def batch(self, loader: Loader, batch: Any) -> None:
        self._turn_over()
        if loader is not self._loader:
            self._before = {}
        self._loader, self._own, self._now = loader, False, {}

    def epoch_done(self, loader: Loader) -> None:
        self._turn_over()
        self._loader, self._own, self._now, self._before = None, False, {}, {}

    def rest(self) -> None:
        self._loader, self._own, self._now, self._before = None, False, {}, {}

    def _turn_over(self) -> None:
        loader, now = self._loader, {} if self._own else self._now
        if loader is None:
            return
        for place, given in now.items():
            if self._before.get(place) != given:
                continue
            found = next((one for one in self.all if one.place is place and one.loader is loader), None)
            if found is None and len(self.all) < _KEPT:
                found = StaleBatch(place, loader, given[0])
                self.all.append(found)
            if found is not None:
                found.batches += 1
        self._before = now
