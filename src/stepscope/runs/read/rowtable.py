"""Points in memory: parts of one series, and append-only tables of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.runs.points.summary import ColumnSummaries, MetricSummary, summarise_points
from stepscope.runs.read.batches import Rows


class Points(NamedTuple):
    """Part of one series in logging order. `exact` has integers that do not fit a float64, by position."""

    steps: npt.NDArray[np.int64]
    times: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    exact: dict[int, int]
    thinned: npt.NDArray[np.float64] | None = None
    """For thinned points, per point: the number of logged points it represents, and their mean."""

    def copy(self) -> Points:
        """A copy of the points that does not reference a table."""
        thinned = None if self.thinned is None else self.thinned.copy()
        return Points(self.steps.copy(), self.times.copy(), self.values.copy(), self.exact, thinned)

    @property
    def stand_ins(self) -> npt.NDArray[np.float64]:
        """`thinned`, also for points that represent only themselves."""
        if self.thinned is not None:
            return self.thinned
        return np.column_stack((np.isfinite(self.values).astype(np.float64), self.values))

    def take(self, order: npt.NDArray[np.int64]) -> Points:
        """The points at these positions, in this order."""
        exact: dict[int, int] = {}
        if self.exact:
            place = {int(old): new for new, old in enumerate(order)}
            exact = {place[old]: number for old, number in self.exact.items() if old in place}
        thinned = None if self.thinned is None else self.thinned[order]
        return Points(self.steps[order], self.times[order], self.values[order], exact, thinned)


NO_POINTS = Points(np.empty(0, np.int64), np.empty(0), np.empty(0), {})


def join_points(parts: list[Points]) -> Points:
    """Several parts concatenated."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return NO_POINTS
    exact: dict[int, int] = {}
    start = 0
    for part in parts:
        exact.update({start + at: number for at, number in part.exact.items()})
        start += len(part.steps)
    return Points(
        np.concatenate([part.steps for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.values for part in parts]),
        exact,
        np.concatenate([part.stand_ins for part in parts]) if any(part.thinned is not None for part in parts) else None,
    )


_FEW = 256
"""Below this many rows, summarizing on demand is faster than incrementally: a run may have a table per row."""

_NARROW = 8
"""Above this many columns, one pass over all of them costs less than one per column."""


class RowTable:
    """Rows of one keyset, each column contiguous, with amortized constant-time appends."""

    __slots__ = ("_summaries", "_summed", "count", "exact", "names", "seqs", "steps", "times", "values")

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.count = 0
        self.seqs = np.empty(0, dtype=np.uint32)
        self.steps = np.empty(0, dtype=np.int64)
        self.times = np.empty(0, dtype=np.float64)
        self.values = np.empty((len(names), 0), dtype=np.float64)
        self.exact: dict[int, dict[int, int]] = {}
        self._summaries: ColumnSummaries | None = None
        self._summed = 0

    def add(self, rows: Rows) -> None:
        start, end = self.count, self.count + len(rows.seqs)
        if end > len(self.seqs):
            self._room(end if not start else max(end, 2 * start, 64))
        self.seqs[start:end] = rows.seqs
        self.steps[start:end] = rows.steps
        self.times[start:end] = rows.times
        self.values[:, start:end] = rows.values.T
        for (row, column), number in rows.exact.items():
            self.exact.setdefault(column, {})[start + row] = number
        self.count = end

    def _room(self, room: int) -> None:
        """Reserve room for this many rows. Always in new arrays: earlier views stay valid."""
        kept = min(room, self.count)
        for name in ("seqs", "steps", "times"):
            old = getattr(self, name)
            new = np.empty(room, dtype=old.dtype)
            new[:kept] = old[:kept]
            setattr(self, name, new)
        values = np.empty((len(self.names), room), dtype=np.float64)
        values[:, :kept] = self.values[:, :kept]
        self.values = values

    def drop(self) -> None:
        """Drop the rows; their number and summaries stay."""
        self._sum_up()
        self._room(0)

    def summary(self, column: int) -> MetricSummary:
        """The column's summary; rows already summarized are not read again."""
        if self.count < _FEW and len(self.names) < _NARROW and len(self.seqs):
            return summarise_points(self.steps[: self.count], self.values[column, : self.count])
        return self._sum_up().summary(column)

    def _sum_up(self) -> ColumnSummaries:
        if self._summaries is None:
            self._summaries = ColumnSummaries(len(self.names))
        part = slice(self._summed, self.count)
        if self._summed < self.count:
            self._summaries.add(self.steps[part], self.values[:, part].T)
            self._summed = self.count
        return self._summaries

    def points(self, column: int, start: int) -> Points:
        part = slice(start, self.count)
        exact = {row - start: number for row, number in self.exact.get(column, {}).items() if row >= start}
        return Points(self.steps[part], self.times[part], self.values[column, part], exact)
