"""A colour for every run, the same on every page: runs that were made one after the other never share one."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterable
from zlib import crc32

from stepscope.runs.catalogue.catalogue import Catalogue

__all__ = ["HUES", "hues", "spread_hues"]

HUES = 12
"""How many the page's palette has (web/src/lib/colour.ts)."""
APART = 9
"""With so many before it a run shares none: what is drawn first, the ten newest runs, can be told apart."""

_kept: weakref.WeakKeyDictionary[Catalogue, tuple[int, dict[str, int]]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def hues(catalogue: Catalogue) -> dict[str, int]:
    """The hue of each run by id, as of the catalogue's version."""
    version = catalogue.version
    with _lock:
        known = _kept.get(catalogue)
    if known is not None and known[0] == version:
        return known[1]
    entries = sorted(catalogue.entries(), key=lambda entry: entry.id)  # ids begin with the time
    found = spread_hues((entry.id, entry.project) for entry in entries)
    with _lock:
        _kept[catalogue] = (version, found)
    return found


def spread_hues(runs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Hues for runs, given as id and project in the order they were made.

    A run takes the hue its id prefers, unless one of the nine before it in its project has it, or, where that leaves a
    choice, one of the nine before it in the store. So later runs change nothing; a deleted one may change those after.
    """
    found: dict[str, int] = {}
    store: deque[int] = deque(maxlen=APART)
    projects: dict[str, deque[int]] = {}
    for run, project in runs:
        own = projects.setdefault(project, deque(maxlen=APART))
        wanted = crc32(run.encode())
        # Steps of five walk through all twelve and land far from the hue that was taken.
        free = [hue for step in range(HUES) if (hue := (wanted + step * 5) % HUES) not in own]
        hue = next((one for one in free if one not in store), free[0])
        found[run] = hue
        own.append(hue)
        store.append(hue)
    return found
