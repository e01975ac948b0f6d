"""Fewer points for a chart, without losing anything visible.

Points are put into buckets of equal width along x. Each bucket keeps its minimum and maximum, first, last and mean, and
how many NaN, +Inf and -Inf it holds: a spike of one step in a million is still there. Few points come back as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.errors import UsageError
from stepscope.runs.points.pyramid import BLOCK, Pyramid

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Buckets:
    """A series for a chart: columns with one entry per non-empty bucket."""

    x: Floats
    """The middle of the bucket's points; for the first bucket its first point, for the last its last."""
    value: Floats
    """The mean of the finite values; NaN if there are none."""
    low: Floats
    high: Floats
    first: Floats
    last: Floats
    count: Ints
    nan: Ints
    pos_inf: Ints
    neg_inf: Ints
    starts: Ints
    """The start of each bucket in the order of x; `starts + count` is its end."""
    points: int
    """Total number of points."""
    order: Ints | None = None
    """The order of x, if the points were not sorted."""
    smooth: Floats | None = None
    """The smoothed series at each bucket, if requested."""

    def __len__(self) -> int:
        return len(self.x)


def downsample(
    x: npt.NDArray[Any],
    values: Floats,
    buckets: int,
    lo: float | None = None,
    hi: float | None = None,
    *,
    is_sorted: bool | None = None,
    neighbours: bool = False,
    pyramid: Pyramid | None = None,
) -> Buckets:
    """Put points into at most `buckets` buckets between `lo` and `hi`.

    `is_sorted` skips checking `x`. `neighbors` adds the point before and the one after the
    range, so that a line enters and leaves a zoomed chart as it should. A `pyramid` of the same values makes the cost
    independent of how many there are; it only helps when x is sorted.

    >>> values = np.zeros(1_000_000)
    >>> values[123_456] = 9.0
    >>> float(downsample(np.arange(1_000_000), values, 800).high.max())
    9.0
    """
    if buckets < 1:
        raise UsageError(f"buckets must be 1 or more, not {buckets}")
    order: Ints | None = None
    if is_sorted is None or not is_sorted:
        order = _sorting(x, is_sorted)
        if order is not None:
            x, values, pyramid = x[order], values[order], None
    start, stop = _range(x, lo, hi)
    if stop - start <= buckets:
        starts = np.arange(start, stop)
        ends = starts + 1
    else:
        starts, ends = _edges(x, start, stop, buckets, lo, hi)
    if neighbours:
        before, after = int(start > 0), int(stop < len(x))
        starts = np.concatenate(([start - 1] * before, starts, [stop] * after)).astype(np.int64)
        ends = np.concatenate(([start] * before, ends, [stop + 1] * after)).astype(np.int64)
    middle = _middle(x, starts, ends)
    if len(middle) > 1:  # the line begins and ends at its points, not half a bucket inside
        middle[0], middle[-1] = x[starts[0]], x[ends[-1] - 1]
    return _buckets(middle, values, starts, ends, pyramid, order)


def _sorting(x: npt.NDArray[Any], is_sorted: bool | None) -> Ints | None:
    """The order that sorts x without non-finite x; None if x is already sorted."""
    if x.dtype.kind == "f":
        usable = np.isfinite(x)
        if not usable.all():
            kept = np.flatnonzero(usable)
            return kept[np.argsort(x[kept], kind="stable")]
    if is_sorted is None and (len(x) < 2 or bool((x[1:] >= x[:-1]).all())):
        return None
    return np.argsort(x, kind="stable")


def _range(x: npt.NDArray[Any], lo: float | None, hi: float | None) -> tuple[int, int]:
    start = 0 if lo is None else int(np.searchsorted(x, _edge(x, [lo])[0], side="left"))
    if hi is None or (x.dtype.kind == "i" and hi >= 2.0**63):
        return start, len(x)
    if x.dtype.kind == "i":
        stop = int(np.searchsorted(x, _edge(x, [np.floor(hi) + 1])[0], side="left"))
    else:
        stop = int(np.searchsorted(x, hi, side="right"))
    return start, max(start, stop)


def _edge(x: npt.NDArray[Any], edges: Any) -> npt.NDArray[Any]:
    """Edges in the dtype of x: searching integers for floats would convert all of them first."""
    if x.dtype.kind != "i":
        return np.asarray(edges, dtype=np.float64)
    info = np.iinfo(np.int64)
    whole = np.ceil(np.asarray(edges, dtype=np.float64))
    inside = (whole >= float(info.min)) & (whole < float(info.max))
    return np.where(inside, np.where(inside, whole, 0).astype(np.int64), np.where(whole < 0, info.min, info.max))


def _edges(
    x: npt.NDArray[Any], start: int, stop: int, buckets: int, lo: float | None, hi: float | None
) -> tuple[Ints, Ints]:
    """The bounds of the non-empty buckets."""
    left = float(x[start]) if lo is None else max(float(lo), -np.finfo(np.float64).max)
    right = float(x[stop - 1]) if hi is None else min(float(hi), np.finfo(np.float64).max)
    share = np.arange(1, buckets) / buckets
    inner = left * (1 - share) + right * share  # no overflow, however far apart the ends are
    cuts = start + np.searchsorted(x[start:stop], _edge(x, inner), side="left")
    bounds = np.concatenate(([start], cuts, [stop]))
    full = bounds[1:] > bounds[:-1]
    return bounds[:-1][full], bounds[1:][full]


def _middle(x: npt.NDArray[Any], starts: Ints, ends: Ints) -> Floats:
    first, last = x[starts].astype(np.float64), x[ends - 1].astype(np.float64)
    return np.where(ends - starts == 1, first, first / 2 + last / 2)


def _buckets(
    x: Floats, values: Floats, starts: Ints, ends: Ints, pyramid: Pyramid | None, order: Ints | None
) -> Buckets:
    count = ends - starts
    total = int(count.sum())
    if not len(starts):
        none, zero = np.empty(0), np.empty(0, np.int64)
        return Buckets(x, none, none, none, none, none, zero, zero, zero, zero, starts, 0, order)
    first, last = values[starts], values[ends - 1]
    if len(starts) == total:
        stats = _each(first)
    elif pyramid is not None and total > 4 * BLOCK * len(starts):
        stats = pyramid.over(values, starts, ends)
    else:
        stats = Pyramid.direct(values, starts, ends)
    low, high, mean, nan, pos_inf, neg_inf = stats
    return Buckets(x, mean, low, high, first, last, count, nan, pos_inf, neg_inf, starts, total, order)


def _each(values: Floats) -> tuple[Floats, Floats, Floats, Ints, Ints, Ints]:
    """One bucket per point."""
    finite = np.where(np.isfinite(values), values, np.nan)
    nan, pos, neg = np.isnan(values), values == np.inf, values == -np.inf
    return finite, finite, finite, nan.astype(np.int64), pos.astype(np.int64), neg.astype(np.int64)
