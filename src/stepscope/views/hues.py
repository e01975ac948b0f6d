"""A colour for every run, the same on every page: runs that were made one after the other never share one."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Sequence
from zlib import crc32

from stepscope.runs.catalogue.catalogue import Catalogue

__all__ = ["HUES", "Spread", "hues", "told_apart"]

HUES = 12
"""How many the page's palette has (web/src/lib/colour.ts)."""
APART = 9
"""With so many before it a run shares none: what is drawn first, the ten newest runs, can be told apart."""

# Steps of five walk through all twelve and land far from the hue that was taken.
_WALKS = [[(wanted + step * 5) % HUES for step in range(HUES)] for wanted in range(HUES)]


# Hues that are hard to tell apart in a thin line. These, and the rule that uses them, are those of the page.
_NEAR = {(0, 5), (1, 4), (1, 7), (1, 9), (2, 6), (2, 8), (3, 7), (3, 11), (4, 8), (4, 9), (5, 11), (6, 10), (7, 9)}
_NEAR.add((9, 10))
_FEW = 4
_DASHES = 5


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


def told_apart(runs: Sequence[str], own: dict[str, int]) -> dict[str, int]:
    """A hue for each run of a report, `hue + 12 * dash`, as the page draws it (assignSlots in web/src/lib/colour.ts).

    The first few take the next hue that is like none before it, the others the next that is free.

    >>> told_apart(["a", "b", "c"], {"a": 1, "b": 7, "c": 1})
    {'a': 1, 'b': 0, 'c': 6}
    """
    found: dict[str, int] = {}
    for run in runs:
        if run in own and run not in found:
            walk = _WALKS[own[run] % HUES]
            taken = set(found.values())
            far = [hue for hue in walk if not any(_alike(hue, other) for other in taken)] if len(found) < _FEW else []
            free = (dash * HUES + hue for dash in range(_DASHES) for hue in walk if dash * HUES + hue not in taken)
            found[run] = far[0] if far else next(free, walk[0])
    return found


def _alike(one: int, other: int) -> bool:
    return one == other or (min(one, other), max(one, other)) in _NEAR
