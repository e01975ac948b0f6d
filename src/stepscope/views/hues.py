"""A stable color for every run, the same on every page: consecutive runs never share one."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.views.hue_book import hue_book

if TYPE_CHECKING:
    from stepscope.views.context import Context

HUES = 8
"""Number of hues in the page's palette (web/src/lib/color.ts)."""
APART = 7
"""A run differs from this many before it: eight runs in a row have eight hues."""

# Steps of three visit all eight and land far from the taken hue.
_WALKS = [[(wanted + step * 3) % HUES for step in range(HUES)] for wanted in range(HUES)]
_DASHES = 5


class Spread:
    """Assigns hues in the order runs are created, so that new runs do not affect earlier ones.

    A run takes the hue its id prefers, unless one of the seven before it in its project has it or, if that leaves a
    choice, one of the seven before it in the store. So later runs change nothing.
    """

    def __init__(self) -> None:
        self.runs: list[tuple[str, str]] = []
        self.hues: dict[str, int] = {}
        self.booked = 0
        """Number of runs in the book."""
        self._store: deque[int] = deque(maxlen=APART)
        self._projects: dict[str, deque[int]] = {}

    def add(self, run: str, project: str, hue: int | None = None) -> None:
        """Assign a hue to a run, or the one it must keep."""
        own = self._projects.get(project)
        if own is None:
            own = self._projects[project] = deque(maxlen=APART)
        chosen = _free(run, own, self._store) if hue is None else hue
        self.runs.append((run, project))
        self.hues[run] = chosen
        own.append(chosen)
        self._store.append(chosen)


def preferred(run: str) -> list[int]:
    """All hues, the ones that a run's id prefers first."""
    return _WALKS[crc32(run.encode()) % HUES]


def _free(run: str, own: deque[int], store: deque[int]) -> int:
    chosen = -1
    for hue in preferred(run):
        if hue not in own:
            if hue not in store:
                return hue
            chosen = hue if chosen < 0 else chosen
    return chosen


_kept: weakref.WeakKeyDictionary[Catalogue, tuple[int, Spread]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def hues_of(ctx: Context, entries: Collection[RunEntry]) -> dict[str, int]:
    """The hue of each of these runs, by id."""
    if ctx.colors is not None:
        return ctx.colors(entries)
    known = hues(ctx.catalogue)
    return {entry.id: known.get(entry.id, 0) for entry in entries}


def hues(catalogue: Catalogue) -> dict[str, int]:
    """The hue of each run by id, as of the catalog's version. An assigned hue never changes."""
    with _lock:
        version = catalogue.version
        known, spread = _kept.get(catalogue) or (-1, Spread())
        if known == version:
            return spread.hues
        runs = [(entry.head.id, entry.head.project) for entry in catalogue.every()]
        new = sorted(run for run in runs if run[0] not in spread.hues)  # ids begin with the time
        is_older = bool(new and spread.runs) and new[0] < spread.runs[-1]
        if is_older or len(spread.hues) + len(new) > len(runs):  # it precedes others, or some are deleted
            spread, new = Spread(), sorted(runs)
        book = hue_book()
        given = book.read()
        for run, project in new:
            hue = given.get(run)
            spread.add(run, project, None if hue is None else hue % HUES)
        if catalogue.unread == 0:  # runs read later may be older, and would have come first
            book.add({run: spread.hues[run] for run, _ in spread.runs[spread.booked :]})
            spread.booked = len(spread.runs)
        _kept[catalogue] = (version, spread)
        return spread.hues


def told_apart(runs: Sequence[str], own: dict[str, int]) -> dict[str, int]:
    """A style for each run of a chart, `hue + 8 * dash`, as the page draws it (assignSlots in web/src/lib/color.ts).

    The hue is always the run's own; if an earlier run has it too, a dash distinguishes them.

    >>> told_apart(["a", "b", "c"], {"a": 1, "b": 7, "c": 1})
    {'a': 1, 'b': 7, 'c': 9}
    """
    found: dict[str, int] = {}
    taken: set[int] = set()
    for run in runs:
        if run in own and run not in found:
            looks = [own[run] % HUES + dash * HUES for dash in range(_DASHES)]
            found[run] = next((look for look in looks if look not in taken), looks[0])
            taken.add(found[run])
    return found
