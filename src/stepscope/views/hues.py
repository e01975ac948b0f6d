"""A colour for every run, the same on every page: runs that were made one after the other never share one."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from zlib import crc32

from stepscope.runs.catalogue.catalogue import Catalogue

__all__ = ["HUES", "Spread", "hues"]

HUES = 12
"""How many the page's palette has (web/src/lib/colour.ts)."""
APART = 9
"""With so many before it a run shares none: what is drawn first, the ten newest runs, can be told apart."""

# Steps of five walk through all twelve and land far from the hue that was taken.
_WALKS = [[(wanted + step * 5) % HUES for step in range(HUES)] for wanted in range(HUES)]


class Spread:
    """Gives out hues in the order runs are made, so that new runs cost nothing for those before them.

    A run takes the hue its id prefers, unless one of the nine before it in its project has it, or, where that leaves a
    choice, one of the nine before it in the store. So later runs change nothing.
    """

    def __init__(self) -> None:
        self.runs: list[tuple[str, str]] = []
        self.hues: dict[str, int] = {}
        self._store: deque[int] = deque(maxlen=APART)
        self._projects: dict[str, deque[int]] = {}

    def add(self, run: str, project: str, hue: int | None = None) -> None:
        """Give a run its hue, or the one it is to keep."""
        own = self._projects.get(project)
        if own is None:
            own = self._projects[project] = deque(maxlen=APART)
        chosen = _free(run, own, self._store) if hue is None else hue
        self.runs.append((run, project))
        self.hues[run] = chosen
        own.append(chosen)
        self._store.append(chosen)


def _free(run: str, own: deque[int], store: deque[int]) -> int:
    chosen = -1
    for hue in _WALKS[crc32(run.encode()) % HUES]:
        if hue not in own:
            if hue not in store:
                return hue
            chosen = hue if chosen < 0 else chosen
    return chosen


_kept: weakref.WeakKeyDictionary[Catalogue, tuple[int, Spread]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def hues(catalogue: Catalogue) -> dict[str, int]:
    """The hue of each run by id, as of the catalogue's version."""
    with _lock:
        version = catalogue.version
        known = _kept.get(catalogue)
        if known is not None and known[0] == version:
            return known[1].hues
        runs = sorted((entry.id, entry.project) for entry in catalogue.every())  # ids begin with the time
        spread = known[1] if known is not None else Spread()
        if runs[: len(spread.runs)] != spread.runs:
            spread = _without(spread, runs)
        for run, project in runs[len(spread.runs) :]:
            spread.add(run, project)
        _kept[catalogue] = (version, spread)
        return spread.hues


def _without(before: Spread, runs: list[tuple[str, str]]) -> Spread:
    """After a deletion the others keep their hues; a run with an older id, as from the trash, has all begin anew."""
    spread = Spread()
    known = before.hues
    last = before.runs[-1][0]
    if all(run in known or run > last for run, _ in runs):
        for run, project in runs:
            if run in known:
                spread.add(run, project, known[run])
    return spread
