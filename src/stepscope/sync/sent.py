"""Remembers, from one pass to the next, runs of which the server has everything, so a pass asks about the others only.

Without it, each pass asks about every run that was ever made here and begins again after each fault: through a bad
network it would never get past the old ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from stepscope.runs.catalogue.change_detection import folder_stamp, listing_stamp, may_settle
from stepscope.sync.checksums import Checksums
from stepscope.sync.wire import Fate

AGAIN_S = 600.0
"""A run that has not changed here is asked for this often all the same: the server may have lost it."""


class Sent:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._runs: dict[Path, tuple[str, float]] = {}
        self._told: dict[str, Fate] = {}
        self.checksums = Checksums()

    def pending(self, runs: Iterable[Path]) -> list[Path]:
        """The runs to check, newest first: active runs are among them."""
        return sorted((run for run in runs if not self._is_sent(run)), key=lambda run: run.name, reverse=True)

    def _is_sent(self, run: Path) -> bool:
        stamp, until = self._runs.get(run, ("", 0.0))
        if self._clock() >= until:
            return False
        try:
            return stamp == (folder_stamp(os.stat(run)) if stamp.startswith("=") else listing_stamp(run))
        except OSError:
            return False

    def stamp(self, run: Path) -> str:
        """What a run looks like; taken before it is read, so that what is written meanwhile is seen next time."""
        try:
            found = os.stat(run)
        except OSError:
            return ""
        return folder_stamp(found) if may_settle(run, found) else listing_stamp(run)

    def note(self, run: Path, stamp: str) -> None:
        """An ended run is on the server as it was when it had this stamp."""
        self._runs[run] = (stamp, self._clock() + AGAIN_S)

    def untold(self, fates: Mapping[str, Fate]) -> dict[str, Fate]:
        """Deletions and restorations that the server has not heard about yet."""
        return {run: fate for run, fate in fates.items() if self._told.get(run) != fate}

    def note_told(self, fates: Mapping[str, Fate]) -> None:
        self._told.update(fates)
