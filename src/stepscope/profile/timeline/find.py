"""Where events of some names are: how many, how they lie along the axis, and each in its turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.profile.timeline.lines import Lines
from stepscope.profile.timeline.picked import Spot, spot_of
from stepscope.profile.trace.trace import Trace

MARKS = 1024
KEPT = 8


class FoundEvents(msgspec.Struct):
    total: int
    index: int
    """Which of them `hit` is, from 0, by time."""
    hit: Spot | None
    marks: list[int]
    """Their number in each of equal stretches of the whole axis."""


class Finder:
    """Answers searches; the last few are kept, so that going from hit to hit costs nothing."""

    def __init__(self, trace: Trace, lines: Lines) -> None:
        self._trace = trace
        self._lines = lines
        self._kept: OrderedDict[tuple[int, ...], npt.NDArray[Any]] = OrderedDict()

    def find(self, names: Sequence[int], index: int | None, after_ns: float = 0) -> FoundEvents:
        """The hit with this number (it goes round at the ends), or the first that begins after a time."""
        places = self._places(tuple(sorted(set(names))))
        start = self._lines.start[places]
        if not len(places):
            return FoundEvents(total=0, index=0, hit=None, marks=[])
        at = int(np.searchsorted(start, after_ns)) if index is None else index
        at %= len(places)
        marks = np.bincount(start * MARKS // (self._lines.span_ns + 1), minlength=MARKS)
        hit = spot_of(self._trace, self._lines, int(places[at]))
        return FoundEvents(total=len(places), index=at, hit=hit, marks=marks.tolist())

    def _places(self, names: tuple[int, ...]) -> npt.NDArray[Any]:
        known = self._kept.get(names)
        if known is None:
            wanted = np.zeros(len(self._trace.events.names) + 1, bool)
            wanted[[name for name in names if 0 <= name < len(wanted) - 1]] = True
            hits = np.flatnonzero(wanted[self._trace.events.name[self._lines.row]])
            known = hits[np.argsort(self._lines.start[hits], kind="stable")]
            self._kept[names] = known
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return known
