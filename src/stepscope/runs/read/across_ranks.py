"""One series over all ranks of a run: mean, minimum, maximum, and the ranks of the extremes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stepscope.runs.points.series import Series
    from stepscope.runs.read.folder import RunFolder

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Band:
    """Per step, over the ranks with a finite value there."""

    steps: Whole
    mean: Floats
    low: Floats
    high: Floats
    low_rank: Whole
    high_rank: Whole
    count: Whole
    """Number of ranks with a finite value; those in `bad` have NaN or Inf."""
    bad: Whole
    bad_rank: Whole
    """The first rank with a non-finite value; -1 if there is none."""


def across_ranks(run: RunFolder, name: str) -> Band:
    """One series of a run over all ranks that have it."""
    return band_of(run.series(name, rank) for rank in run.ranks_with(name))


def band_of(all_ranks: Iterable[Series]) -> Band:
    """The band of these series, one per rank; with several points at a step the last counts.

    >>> from stepscope.runs.points.series import Series
    >>> band = band_of([Series("loss", [1, 2], [0, 0], [4.0, 2.0]), Series("loss", [1, 2], [0, 0], [6.0, 9.0], rank=1)])
    >>> band.mean.tolist(), band.high.tolist(), band.high_rank.tolist()
    ([5.0, 5.5], [6.0, 9.0], [1, 1])
    """
    ranks = list(all_ranks)
    steps = np.unique(np.concatenate([one.steps for one in ranks])) if ranks else np.empty(0, np.int64)
    size = len(steps)
    total, low, high = np.zeros(size), np.full(size, np.inf), np.full(size, -np.inf)
    low_rank, high_rank, bad_rank = (np.full(size, -1, np.int64) for _ in range(3))
    count, bad = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for one in ranks:
        last = np.flatnonzero(np.append(np.diff(one.steps) > 0, True)) if len(one) else np.empty(0, np.int64)
        at, values = np.searchsorted(steps, one.steps[last]), one.values[last]
        finite = np.isfinite(values)
        broken = at[~finite]
        bad[broken] += 1
        bad_rank[broken] = np.where(bad_rank[broken] < 0, one.rank, bad_rank[broken])
        at, values = at[finite], values[finite]
        total[at] += values
        count[at] += 1
        lower, higher = values < low[at], values > high[at]
        low[at[lower]], low_rank[at[lower]] = values[lower], one.rank
        high[at[higher]], high_rank[at[higher]] = values[higher], one.rank
    none = count == 0
    low[none] = high[none] = np.nan
    mean = np.divide(total, count, out=np.full(size, np.nan), where=~none)
    return Band(steps, mean, low, high, low_rank, high_rank, count, bad, bad_rank)


def standing_out(band: Band) -> tuple[int, float] | None:
    """The rank that is most often the largest, and its fraction of the steps; None if no rank stands out.

    A rank stands out when it is the largest at more than half of the steps.
    """
    known = band.high_rank[(band.high_rank >= 0) & (band.high > band.low)]
    if len(known) < 3 or len(known) * 2 < len(band.steps):
        return None
    ranks, times = np.unique(known, return_counts=True)
    share = float(times.max() / len(known))
    return (int(ranks[times.argmax()]), share) if share > 0.5 else None
