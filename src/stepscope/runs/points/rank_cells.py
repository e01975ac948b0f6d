"""The points of several ranks in an interval of steps, in a few numbers: how a node's log holds a series.

A cell says how low and how high the series was and on which ranks, and the mean. Cells of one interval add up, so a
leader writes those of the points that are new and remembers nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

CELL = ("width", "low", "mean", "high", "low_rank", "high_rank", "ranks", "count", "bad", "bad_rank")
"""The columns of a cell. width: steps in the interval · ranks: how many have points in it · count: finite points ·
bad: NaN and Inf · bad_rank: the first rank with one, or -1."""
_SEPARATOR = "\x1f"
_INTERVALS = 2
"""About how many intervals the points of one look are put into."""


class RankPoints(NamedTuple):
    rank: int
    steps: Whole
    values: Floats


class Cells(NamedTuple):
    """One row for each interval: its first step, and the columns of `CELL`."""

    steps: Whole
    values: Floats


def column_name(name: str, column: str) -> str:
    """The name under which a node's log has one column of a series."""
    return f"{name}{_SEPARATOR}{column}"


def columns_of(name: str) -> tuple[str, ...]:
    """The names of all columns of a series, in the order of `CELL`."""
    return tuple(column_name(name, column) for column in CELL)


def series_of(column: str) -> str:
    """The series that a column belongs to.

    >>> series_of(column_name("train/loss", "low"))
    'train/loss'
    """
    return column.rpartition(_SEPARATOR)[0]


def cells_of(points: Sequence[RankPoints]) -> Cells:
    """The cells of new points of one series. Intervals are powers of two wide, so those of all nodes fit together.

    >>> first = RankPoints(8, np.array([0, 1]), np.array([4.0, 2.0]))
    >>> cells = cells_of([first, RankPoints(9, np.array([0]), np.array([9.0]))])
    >>> dict(zip(CELL, cells.values[0].tolist()))["high_rank"], cells.steps.tolist()
    (9.0, [0, 1])
    """
    steps = np.concatenate([one.steps for one in points])
    values = np.concatenate([one.values for one in points])
    ranks = np.concatenate([np.full(len(one.steps), one.rank, np.int64) for one in points])
    width = _width(steps)
    order = np.lexsort((ranks, steps // width))
    at, values, ranks = (steps // width)[order], values[order], ranks[order]
    starts = np.flatnonzero(np.append(True, np.diff(at) > 0))
    finite = np.isfinite(values)
    counts = np.add.reduceat(finite.astype(np.int64), starts)
    some = counts > 0
    totals = np.add.reduceat(np.where(finite, values, 0.0), starts)
    low, low_rank = _extreme(np.where(finite, values, np.inf), ranks, starts, np.minimum)
    high, high_rank = _extreme(np.where(finite, values, -np.inf), ranks, starts, np.maximum)
    sizes = np.diff(np.append(starts, len(at)))
    is_new = np.append(True, (np.diff(ranks) != 0) | (np.diff(at) > 0))
    broken = np.where(finite, np.iinfo(np.int64).max, ranks)
    first_broken = np.minimum.reduceat(broken, starts)
    none = np.full(len(starts), np.nan)
    columns = (
        np.full(len(starts), float(width)),
        np.where(some, low, none),
        np.divide(totals, counts, out=none.copy(), where=some),
        np.where(some, high, none),
        np.where(some, low_rank, -1),
        np.where(some, high_rank, -1),
        np.add.reduceat(is_new.astype(np.int64), starts),
        counts,
        sizes - counts,
        np.where(counts < sizes, first_broken, -1),
    )
    return Cells(at[starts] * width, np.column_stack(columns).astype(np.float64))


def _width(steps: Whole) -> int:
    span = int(steps.max() - steps.min()) + 1
    width = 1
    while width * _INTERVALS < span:
        width *= 2
    return width


def _extreme(values: Floats, ranks: Whole, starts: Whole, which: np.ufunc) -> tuple[Floats, Whole]:
    """The extreme of each stretch, and the first rank that has it."""
    found: Floats = which.reduceat(values, starts)
    sizes = np.diff(np.append(starts, len(values)))
    is_it = values == np.repeat(found, sizes)
    whose: Whole = np.minimum.reduceat(np.where(is_it, ranks, np.iinfo(np.int64).max), starts)
    return found, whose
