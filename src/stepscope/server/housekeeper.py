"""The thread of a team server that compacts ended runs, moves them to the object store, and empties the trash.

One process of those that share a folder does it, whichever has the lock. It works on runs that have ended and rested,
and never on one that may still grow.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import StepscopeError
from stepscope.fence import fenced
from stepscope.importers.lock import ImportLock
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.compact.compact import compact
from stepscope.runs.trash import KEPT_S, purge, trashed_runs
from stepscope.sync.archive import archive, forget
from stepscope.sync.fates import Fates
from stepscope.sync.objects import Objects
from stepscope.sync.settled import settle

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue

__all__ = ["Housekeeper"]

log = logging.getLogger("stepscope.server")

FIRST = 500_000
"""Compacted files of a server begin with this number; those of a client never get there."""
AGAIN_S = 10.0
RECENT_S = 86400.0
"""For this long after its end, files of a run may still be on their way."""
_ENDED = ("finished", "stopped", "preempted", "failed")


class Housekeeper:
    """`start` and `stop` bracket its thread; `once` is one round."""

    def __init__(
        self, catalogue: Catalogue, store: Path, objects: Objects | None, rest_s: float = 60.0, again_s: float = AGAIN_S
    ) -> None:
        self._catalogue, self._store, self._objects = catalogue, store, objects
        self._rest_s, self._again_s = rest_s, again_s
        self._fates = Fates(store)
        self._lock = ImportLock(store, "housekeeping")
        self._done: dict[str, tuple[int, int]] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.moved = 0
        """Runs that were moved to the object store by this process."""
        self.failing: str | None = None
        """Why the last run could not be moved."""

    def start(self) -> None:
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="stepscope-housekeeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(30)
            self._thread = None
        self._lock.release()

    def _run(self) -> None:
        turn = fenced("keeping house")(self.once)
        while not self._stopping.wait(self._again_s):
            turn()

    def once(self) -> None:
        """See to every run that has ended since the last round, and to the trash."""
        if not self._lock.take():
            return  # another process does it
        self._fates.note()
        for entry in self._catalogue.every():
            if self._stopping.is_set():
                return
            rested = entry.ended is not None and time.time() - entry.ended > self._rest_s
            if entry.status in _ENDED and rested and entry.path.parent == self._store:
                self._see_to(entry)
        self._empty_trash()

    def _see_to(self, entry: RunEntry) -> None:
        recent = entry.ended is not None and time.time() - entry.ended < RECENT_S
        stamp = (entry.version, _touched(entry.path) if recent else 0)
        if self._done.get(entry.id) == stamp:
            return
        try:
            settle(entry.path)
            compact(entry.path, first=FIRST)
            if self._objects is not None:
                archive(entry.path, self._objects)
                self.moved += 1
        except (StepscopeError, OSError) as fault:
            self.failing = str(fault)
            log.warning("run %s stays as it is: %s", entry.id, fault)
            return
        self.failing = None
        self._done[entry.id] = (entry.version, _touched(entry.path) if recent else 0)

    def _empty_trash(self) -> None:
        limit = time.time() - KEPT_S
        for one in trashed_runs([self._store]):
            if one.deleted >= limit or self._stopping.is_set():
                continue
            try:
                if self._objects is not None:
                    forget(self._objects, one.id)
                purge(one)
            except (StepscopeError, OSError) as fault:
                log.warning("run %s stays in the trash: %s", one.id, fault)


def _touched(run: Path) -> int:
    """When a file was last added to a run or one of its folders."""
    times = []
    try:
        for path in (run, *(inner for inner in run.iterdir() if inner.is_dir())):
            times.append(path.stat().st_mtime_ns)
    except OSError:  # deleted meanwhile
        return 0
    return max(times)
