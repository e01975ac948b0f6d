"""Minimum, maximum and sum of every 128 points, updated as a series grows.

A chart of a hundred million points then costs what a chart of a hundred thousand costs: whole blocks are taken from
here, and only the ends of each bucket from the points themselves.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

BLOCK = 128

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Stats = tuple[Floats, Floats, Floats, Ints, Ints, Ints]
"""low, high, mean of the finite values (NaN without one), and how many NaN, +Inf, -Inf."""


class Pyramid:
    """One level of blocks over the values of a series that only grows."""

    def __init__(self) -> None:
        self.blocks = 0
        self._low = np.empty(0)
        self._high = np.empty(0)
        self._sum = np.empty(0)
        self._odd = np.empty(0, dtype=np.int64)
        """Positions of the non-finite values."""
        self._seen = 0

    def update(self, values: Floats) -> None:
        """Add what `values` has beyond the last call."""
        start, stop = self.blocks, len(values) // BLOCK
        fresh = values[self._seen :]
        odd = np.flatnonzero(~np.isfinite(fresh)) + self._seen
        if len(odd):
            self._odd = np.concatenate((self._odd, odd))
        self._seen = len(values)
        if stop <= start:
            return
        self._grow(stop)
        part = values[start * BLOCK : stop * BLOCK].reshape(-1, BLOCK)
        with np.errstate(over="ignore", invalid="ignore"):
            if len(odd) or not np.isfinite(part).all():
                finite = np.isfinite(part)
                self._low[start:stop] = np.where(finite, part, np.inf).min(axis=1)
                self._high[start:stop] = np.where(finite, part, -np.inf).max(axis=1)
                self._sum[start:stop] = np.where(finite, part, 0.0).sum(axis=1)
            else:
                self._low[start:stop] = part.min(axis=1)
                self._high[start:stop] = part.max(axis=1)
                self._sum[start:stop] = part.sum(axis=1)
        self.blocks = stop

    def _grow(self, blocks: int) -> None:
        if blocks <= len(self._low):
            return
        room = max(blocks, 2 * self.blocks, 64)
        for name in ("_low", "_high", "_sum"):
            new = np.empty(room)
            new[: self.blocks] = getattr(self, name)[: self.blocks]
            setattr(self, name, new)

    def over(self, values: Floats, starts: Ints, ends: Ints) -> Stats:
        """The statistics of each interval `starts[i]:ends[i]`; intervals are sorted and do not overlap."""
        first = np.minimum(-(-starts // BLOCK), self.blocks)
        last = np.minimum(ends // BLOCK, self.blocks)
        inner = last > first
        left_end = np.where(inner, first * BLOCK, ends)
        right_start = np.where(inner, last * BLOCK, ends)
        low, high, total = _reduce(values, starts, left_end)
        for part in (
            _reduce(values, right_start, ends),
            _reduce_blocks(self._low, self._high, self._sum, first, np.maximum(first, last)),
        ):
            low, high = np.minimum(low, part[0]), np.maximum(high, part[1])
            with np.errstate(over="ignore", invalid="ignore"):
                total = total + part[2]
        counts = self._odd_counts(values, starts, ends)
        return _finish(values, starts, ends, low, high, total, counts)

    def _odd_counts(self, values: Floats, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
        odd = self._odd[np.searchsorted(self._odd, starts[0]) : np.searchsorted(self._odd, ends[-1])]
        return _count_odd(values, odd, starts, ends)

    @staticmethod
    def direct(values: Floats, starts: Ints, ends: Ints) -> Stats:
        """The same, computed from the points alone."""
        begin = int(starts[0])
        part = values[begin : int(ends[-1])]
        finite = np.isfinite(part)
        odd = np.empty(0, dtype=np.int64) if finite.all() else np.flatnonzero(~finite) + begin
        low, high, total = _reduce(values, starts, ends)
        return _finish(values, starts, ends, low, high, total, _count_odd(values, odd, starts, ends))


def _finish(
    values: Floats, starts: Ints, ends: Ints, low: Floats, high: Floats, total: Floats, odd: tuple[Ints, Ints, Ints]
) -> Stats:
    nan, pos_inf, neg_inf = odd
    finite = ends - starts - nan - pos_inf - neg_inf
    some = finite > 0
    with np.errstate(all="ignore"):
        mean = total / finite
    for at in np.flatnonzero(some & ~np.isfinite(mean)):  # the sum of huge values overflowed
        piece = values[starts[at] : ends[at]]
        with np.errstate(over="ignore"):  # rounding can still exceed the largest number; the clip below corrects it
            mean[at] = (piece[np.isfinite(piece)] / finite[at]).sum()
    none = np.nan
    mean = np.clip(np.where(some, mean, none), np.where(some, low, none), np.where(some, high, none))
    return np.where(some, low, none), np.where(some, high, none), mean, nan, pos_inf, neg_inf


def _count_odd(values: Floats, odd: Ints, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    if not len(odd):
        zero = np.zeros(len(starts), dtype=np.int64)
        return zero, zero, zero
    bucket = np.searchsorted(starts, odd, side="right") - 1
    inside = (bucket >= 0) & (odd < ends[bucket])
    bucket, what = bucket[inside], values[odd[inside]]
    counts = (
        np.bincount(bucket[chosen], minlength=len(starts)).astype(np.int64)
        for chosen in (np.isnan(what), what == np.inf, what == -np.inf)
    )
    nan, pos_inf, neg_inf = counts
    return nan, pos_inf, neg_inf


def _reduce(values: Floats, starts: Ints, ends: Ints) -> tuple[Floats, Floats, Floats]:
    """Minimum, maximum and sum of the finite values of each interval; +Inf, -Inf and 0 if there are none."""
    lengths = ends - starts
    some = np.flatnonzero(lengths > 0)
    low, high = np.full(len(starts), np.inf), np.full(len(starts), -np.inf)
    total = np.zeros(len(starts))
    if not len(some):
        return low, high, total
    picked, cuts = _gather(values, starts[some], lengths[some])
    finite = np.isfinite(picked)
    with np.errstate(over="ignore", invalid="ignore"):
        if finite.all():
            low[some] = np.minimum.reduceat(picked, cuts)
            high[some] = np.maximum.reduceat(picked, cuts)
            total[some] = np.add.reduceat(picked, cuts)
        else:
            low[some] = np.minimum.reduceat(np.where(finite, picked, np.inf), cuts)
            high[some] = np.maximum.reduceat(np.where(finite, picked, -np.inf), cuts)
            total[some] = np.add.reduceat(np.where(finite, picked, 0.0), cuts)
    return low, high, total


def _reduce_blocks(
    lows: Floats, highs: Floats, sums: Floats, starts: Ints, ends: Ints
) -> tuple[Floats, Floats, Floats]:
    lengths = ends - starts
    some = np.flatnonzero(lengths > 0)
    low, high = np.full(len(starts), np.inf), np.full(len(starts), -np.inf)
    total = np.zeros(len(starts))
    if len(some):
        with np.errstate(over="ignore", invalid="ignore"):
            picked, cuts = _gather(lows, starts[some], lengths[some])
            low[some] = np.minimum.reduceat(picked, cuts)
            picked, cuts = _gather(highs, starts[some], lengths[some])
            high[some] = np.maximum.reduceat(picked, cuts)
            picked, cuts = _gather(sums, starts[some], lengths[some])
            total[some] = np.add.reduceat(picked, cuts)
    return low, high, total


def _gather(values: Floats, starts: Ints, lengths: Ints) -> tuple[Floats, Ints]:
    """The intervals concatenated, and the start of each."""
    cuts = np.concatenate(([0], np.cumsum(lengths[:-1])))
    total = int(lengths.sum())
    if int(starts[-1] + lengths[-1] - starts[0]) == total:  # already adjacent
        return values[starts[0] : starts[0] + total], cuts
    index = np.arange(total) + np.repeat(starts - cuts, lengths)
    return values[index], cuts
