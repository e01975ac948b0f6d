"""Compacts runs that have ended, a little at a time, and removes what has been in the trash for a week."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.compact.compact import compact
from stepscope.runs.format.layout import log_files
from stepscope.runs.trash import purge_old

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue

log = logging.getLogger("stepscope.server")

REST_S = 60.0
"""A run is left alone for this long after its end: somebody may resume it, or its last files are still on their way."""
BUDGET_S = 0.25
AGAIN_S = 30.0
PURGE_S = 3600.0
_ENDED = ("finished", "stopped", "preempted", "failed", "killed")


class Tidy:
    """Remembers which runs it has seen to, by their version, and looks for more now and then."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        self._next = 0.0
        self._purge = 0.0

    def some(self, catalogue: Catalogue, stopping: threading.Event) -> int:
        """Compact runs until the time is up; how many were changed. "lost" runs are not ours to touch."""
        now = time.monotonic()
        if now < self._next:
            return 0
        changed = 0
        for entry in catalogue.entries():
            if stopping.is_set() or time.monotonic() > now + BUDGET_S:
                return changed  # continues at the next poll
            rested = entry.ended is not None and time.time() - entry.ended > REST_S
            if entry.status in _ENDED and rested and self._done.get(entry.id) != entry.version:
                self._done[entry.id] = entry.version
                changed += self._one(entry)
        self._next = now + AGAIN_S
        if now >= self._purge:
            self._purge = now + PURGE_S
            purge_old(catalogue.homes())
        return changed

    def _one(self, entry: RunEntry) -> bool:
        if not any(".points." in path.name for path in log_files(entry.path)):
            return False
        result = compact(entry.path, gone=entry.status == "killed")
        for name, reason in result.skipped.items():
            log.debug("%s stays as it is: %s", name, reason)
        return result.files > 0
