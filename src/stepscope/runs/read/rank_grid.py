"""One series as a grid of ranks and intervals of steps.

Ranks log some series, such as timings, at different steps; intervals align them. Every interval keeps the extremes
of its points, so one slow step still shows in a chart of a million.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stepscope.runs.read.across_ranks import Band, Floats, Whole

if TYPE_CHECKING:
    from stepscope.runs.points.series import Series
    from stepscope.runs.read.folder import RunFolder

__all__ = ["Grid", "band_of_grid", "rank_grid"]

Change = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Grid:
    """A row per rank, a column per interval of steps. NaN where a rank has no finite value."""

    steps: Whole
    """The first step of each interval."""
    width: float
    """Number of steps per interval."""
    ranks: Whole
    mean: Floats
    low: Floats
    high: Floats
    bad: Whole
    """Number of NaN or Inf values."""


def rank_grid(run: RunFolder, name: str, columns: int, change: Change | None = None) -> Grid:
    """One series of all ranks that have it, in at most `columns` intervals. `change` converts the values."""
    ranks = run.ranks_with(name)
    known = [run.metric_summary(name, rank) for rank in ranks]
    firsts = [one.first_step for one in known if one.first_step is not None]
    lasts = [one.last_step for one in known if one.last_step is not None]
    if not firsts:
        return _Filling(np.empty(0, np.int64), 1.0, []).grid()
    span = max(lasts) - min(firsts) + 1
    usual = int(np.median([one.count for one in known if one.count]))
    count = max(1, min(columns, span, usual))
    edges = min(firsts) + np.ceil(np.arange(count + 1) * span / count).astype(np.int64)
    filling = _Filling(edges, span / count, ranks)
    for row, rank in enumerate(ranks):
        filling.add(row, run.series(name, rank), change)
    return filling.grid()


class _Filling:
    """A grid that is filled rank by rank, so that only one series is in memory."""

    def __init__(self, edges: Whole, width: float, ranks: list[int]) -> None:
        shape = (len(ranks), max(0, len(edges) - 1))
        self._edges, self._width, self._ranks = edges, width, np.array(ranks, np.int64)
        self._mean, self._low, self._high = (np.full(shape, np.nan) for _ in range(3))
        self._bad = np.zeros(shape, np.int64)

    def add(self, row: int, series: Series, change: Change | None) -> None:
        values = series.values if change is None else change(series.values)
        at = np.searchsorted(series.steps, self._edges)
        taken = np.flatnonzero(at[1:] > at[:-1])
        if not len(taken):
            return
        starts, end = at[taken], at[-1]
        finite = np.isfinite(values[:end])
        counts = np.add.reduceat(finite.astype(np.int64), starts)
        sums = np.add.reduceat(np.where(finite, values[:end], 0.0), starts)
        some = counts > 0
        self._bad[row, taken] = np.diff(np.append(starts, end)) - counts
        self._mean[row, taken[some]] = sums[some] / counts[some]
        self._low[row, taken[some]] = np.minimum.reduceat(np.where(finite, values[:end], np.inf), starts)[some]
        self._high[row, taken[some]] = np.maximum.reduceat(np.where(finite, values[:end], -np.inf), starts)[some]

    def grid(self) -> Grid:
        return Grid(self._edges[:-1], self._width, self._ranks, self._mean, self._low, self._high, self._bad)


def band_of_grid(grid: Grid) -> Band:
    """The mean over ranks in each interval, the extremes of all its points, and their ranks."""
    if not grid.mean.size:
        none, whole = np.empty(0), np.empty(0, np.int64)
        return Band(whole, none, none, none, whole, whole, whole, whole, whole)
    has = ~np.isnan(grid.mean)
    count = has.sum(axis=0)
    some = count > 0
    total = np.where(has, grid.mean, 0.0).sum(axis=0)
    low_at = np.where(has, grid.low, np.inf).argmin(axis=0)
    high_at = np.where(has, grid.high, -np.inf).argmax(axis=0)
    bad = grid.bad > 0
    return Band(
        steps=grid.steps,
        mean=np.divide(total, count, out=np.full(len(count), np.nan), where=some),
        low=_picked(grid.low, low_at),
        high=_picked(grid.high, high_at),
        low_rank=np.where(some, grid.ranks[low_at], -1),
        high_rank=np.where(some, grid.ranks[high_at], -1),
        count=count,
        bad=bad.sum(axis=0),
        bad_rank=np.where(bad.any(axis=0), grid.ranks[bad.argmax(axis=0)], -1),
    )


def _picked(values: Floats, rows: npt.NDArray[np.int64]) -> Floats:
    picked: Floats = np.take_along_axis(values, rows[None, :], axis=0)[0]
    return picked
