"""One series as a grid of ranks and intervals of steps.

Ranks log some series, such as times, at steps of their own. Intervals bring them together. Every interval keeps the
extremes of its points, so one slow step still shows in a picture of a million. Where a node keeps only a band of its
ranks, those ranks share a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from stepscope.runs.read.across_ranks import Band, Floats, Whole
from stepscope.runs.read.node_bands import NodeBand, node_bands

if TYPE_CHECKING:
    from stepscope.runs.points.series import Series
    from stepscope.runs.points.summary import MetricSummary
    from stepscope.runs.read.folder import RunFolder

Change = Callable[[Floats], Floats]
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True)
class Grid:
    """A row for each rank or node, a column for each interval of steps. NaN where a row has no finite value."""

    steps: Whole
    """The first step of each interval."""
    width: float
    """How many steps an interval has."""
    first: Whole
    """The first rank of each row."""
    last: Whole
    mean: Floats
    low: Floats
    high: Floats
    low_rank: Whole
    high_rank: Whole
    ranks: Whole
    """How many ranks have points there."""
    bad: Whole
    """How many values are NaN or Inf."""
    bad_rank: Whole

    @property
    def largest(self) -> Floats:
        """What a picture shows: a rank's mean, and of the ranks of a node the largest point."""
        return np.where((self.first == self.last)[:, None], self.mean, self.high)


def rank_grid(run: RunFolder, name: str, columns: int, change: Change | None = None) -> Grid:
    """One series of all ranks that have it, in at most `columns` intervals. `change` converts the values."""
    bands = node_bands(run, name)
    in_bands = {rank for band in bands for rank in band.ranks}
    ranks = [rank for rank in run.ranks_with(name) if rank not in in_bands]
    filled = [band for band in bands if len(band.steps)]
    extent = _extent([run.metric_summary(name, rank) for rank in ranks], filled)
    if extent is None:
        return _Filling(np.empty(0, np.int64), 1.0, 0).grid()
    widest = max((int(band.columns["width"].max()) for band in filled), default=1)
    span = extent.last - extent.first + 1
    count = max(1, min(columns, span // max(1, widest), extent.points))
    edges = extent.first + np.ceil(np.arange(count + 1) * span / count).astype(np.int64)
    filling = _Filling(edges, span / count, len(ranks) + len(bands))
    for rank in ranks:
        filling.add(run.series(name, rank), change)
    for band in bands:
        filling.add_node(band, change)
    return filling.grid()


class _Extent(NamedTuple):
    """The first and last step of all rows, and how many points a row usually has."""

    first: int
    last: int
    points: int


def _extent(ranks: list[MetricSummary], bands: list[NodeBand]) -> _Extent | None:
    firsts = [one.first_step for one in ranks if one.first_step is not None]
    lasts = [one.last_step for one in ranks if one.last_step is not None]
    counts = [one.count for one in ranks if one.count]
    firsts += [int(band.steps.min()) for band in bands]
    lasts += [int((band.steps + band.columns["width"]).max()) - 1 for band in bands]
    counts += [len(band.steps) for band in bands]
    return _Extent(min(firsts), max(lasts), int(np.median(counts))) if firsts else None


class _Filling:
    """A grid that is filled one row after the other, so that no more than one series is held."""

    def __init__(self, edges: Whole, width: float, rows: int) -> None:
        shape = (rows, max(0, len(edges) - 1))
        self._edges, self._width, self._next = edges, width, 0
        self._first, self._last = (np.zeros(rows, np.int64) for _ in range(2))
        self._mean, self._low, self._high = (np.full(shape, np.nan) for _ in range(3))
        self._low_rank, self._high_rank, self._bad_rank = (np.full(shape, -1, np.int64) for _ in range(3))
        self._ranks, self._bad = (np.zeros(shape, np.int64) for _ in range(2))

    def add(self, series: Series, change: Change | None) -> None:
        values = series.values if change is None else change(series.values)
        row, rank = self._row(series.rank, series.rank)
        at = np.searchsorted(series.steps, self._edges)
        taken = np.flatnonzero(at[1:] > at[:-1])
        if not len(taken):
            return
        starts, end = at[taken], at[-1]
        finite = np.isfinite(values[:end])
        counts = np.add.reduceat(finite.astype(np.int64), starts)
        sums = np.add.reduceat(np.where(finite, values[:end], 0.0), starts)
        bad, some = np.diff(np.append(starts, end)) - counts, counts > 0
        self._bad[row, taken] = bad
        self._bad_rank[row, taken[bad > 0]] = rank
        self._ranks[row, taken] = 1
        self._mean[row, taken[some]] = sums[some] / counts[some]
        self._low[row, taken[some]] = np.minimum.reduceat(np.where(finite, values[:end], np.inf), starts)[some]
        self._high[row, taken[some]] = np.maximum.reduceat(np.where(finite, values[:end], -np.inf), starts)[some]
        self._low_rank[row, taken[some]] = self._high_rank[row, taken[some]] = rank

    def add_node(self, band: NodeBand, change: Change | None) -> None:
        row, _ = self._row(band.ranks[0], band.ranks[-1])
        if not len(band.steps):
            return
        order = np.argsort(band.steps, kind="stable")
        steps, cells = band.steps[order], {name: column[order] for name, column in band.columns.items()}
        if change is not None:
            cells = _changed(cells, change)
        at = np.clip(np.searchsorted(self._edges, steps, side="right") - 1, 0, len(self._edges) - 2)
        starts = np.flatnonzero(np.append(True, np.diff(at) > 0))
        taken = at[starts]
        sizes = np.diff(np.append(starts, len(at)))
        counts = np.add.reduceat(cells["count"], starts)
        total = np.add.reduceat(np.where(cells["count"] > 0, cells["mean"] * cells["count"], 0.0), starts)
        some = counts > 0
        low = np.where(np.isnan(cells["low"]), np.inf, cells["low"])
        high = np.where(np.isnan(cells["high"]), -np.inf, cells["high"])
        self._mean[row, taken[some]] = total[some] / counts[some]
        for values, ranks, which, into, whose in (
            (low, cells["low_rank"], np.minimum, self._low, self._low_rank),
            (high, cells["high_rank"], np.maximum, self._high, self._high_rank),
        ):
            found = which.reduceat(values, starts)
            is_it = values == np.repeat(found, sizes)
            into[row, taken[some]] = found[some]
            whose[row, taken[some]] = np.maximum.reduceat(np.where(is_it, ranks, -1), starts)[some].astype(np.int64)
        self._ranks[row, taken] = np.maximum.reduceat(cells["ranks"], starts).astype(np.int64)
        self._bad[row, taken] = np.add.reduceat(cells["bad"], starts).astype(np.int64)
        self._bad_rank[row, taken] = np.maximum.reduceat(cells["bad_rank"], starts).astype(np.int64)

    def _row(self, first: int, last: int) -> tuple[int, int]:
        row = self._next
        self._next += 1
        self._first[row], self._last[row] = first, last
        return row, first

    def grid(self) -> Grid:
        order = np.argsort(self._first, kind="stable")
        return Grid(
            steps=self._edges[:-1],
            width=self._width,
            first=self._first[order],
            last=self._last[order],
            mean=self._mean[order],
            low=self._low[order],
            high=self._high[order],
            low_rank=self._low_rank[order],
            high_rank=self._high_rank[order],
            ranks=self._ranks[order],
            bad=self._bad[order],
            bad_rank=self._bad_rank[order],
        )


def _changed(cells: dict[str, Floats], change: Change) -> dict[str, Floats]:
    """The cells of converted values; a conversion that turns the order around makes the lowest the highest."""
    low, high = change(cells["low"]), change(cells["high"])
    changed = {**cells, "mean": change(cells["mean"]), "low": low, "high": high}
    if np.nansum(low - high) > 0:
        changed |= {"low": high, "high": low, "low_rank": cells["high_rank"], "high_rank": cells["low_rank"]}
    return changed


def band_of_grid(grid: Grid) -> Band:
    """The mean over ranks in each interval, the extremes of all its points, and their ranks."""
    if not grid.mean.size:
        none, whole = np.empty(0), np.empty(0, np.int64)
        return Band(whole, none, none, none, whole, whole, whole, whole, whole)
    has = ~np.isnan(grid.mean)
    count = np.where(has, grid.ranks, 0).sum(axis=0)
    some = count > 0
    total = np.where(has, grid.mean * grid.ranks, 0.0).sum(axis=0)
    low_at = np.where(has, grid.low, np.inf).argmin(axis=0)
    high_at = np.where(has, grid.high, -np.inf).argmax(axis=0)
    bad = grid.bad > 0
    return Band(
        steps=grid.steps,
        mean=np.divide(total, count, out=np.full(len(count), np.nan), where=some),
        low=_picked(grid.low, low_at),
        high=_picked(grid.high, high_at),
        low_rank=np.where(some, _picked(grid.low_rank, low_at), -1),
        high_rank=np.where(some, _picked(grid.high_rank, high_at), -1),
        count=count,
        bad=bad.sum(axis=0),
        bad_rank=np.where(bad.any(axis=0), _picked(grid.bad_rank, bad.argmax(axis=0)), -1),
    )


def _picked(values: npt.NDArray[Number], rows: Whole) -> npt.NDArray[Number]:
    picked: npt.NDArray[Number] = np.take_along_axis(values, rows[None, :], axis=0)[0]
    return picked
