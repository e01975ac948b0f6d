"""One named sequence of (step, time, value), as read-only numpy arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from stepscope.errors import MissingExtra, UsageError
from stepscope.runs.points.align import as_x
from stepscope.runs.points.downsample import Buckets, downsample
from stepscope.runs.points.smooth import smooth
from stepscope.runs.points.summary import MetricSummary, summarise_points

if TYPE_CHECKING:
    from stepscope.runs.points.pyramid import Pyramid

Floats = npt.NDArray[np.float64]


class Point(NamedTuple):
    step: int
    time: float
    value: float | int
    """An int where the logged integer does not fit a float."""


class Series:
    """A metric of one run, sorted by step, ties in the order they were logged.

    >>> loss = Series("loss", [0, 10], [100.0, 101.5], [0.7, 0.4])     # or run.series("loss")
    >>> loss.steps.tolist(), float(loss.values.min()), len(loss)
    ([0, 10], 0.4, 2)
    >>> loss[-1]
    Point(step=10, time=101.5, value=0.4)

    The arrays are read-only snapshots; call `run.refresh()` and `run.series(...)` again for newer points.
    """

    def __init__(
        self,
        name: str,
        steps: npt.ArrayLike,
        times: npt.ArrayLike,
        values: npt.ArrayLike,
        *,
        rank: int = 0,
        run: str = "",
        start: float | None = None,
        exact: Mapping[int, int] | None = None,
        superseded: npt.NDArray[np.bool_] | None = None,
        pyramid: Pyramid | None = None,
        times_sorted: bool | None = None,
        thinned: Floats | None = None,
        summary: MetricSummary | None = None,
    ) -> None:
        self.name = name
        self.rank = rank
        self.run = run
        """The id of the run."""
        self.steps: npt.NDArray[np.int64] = _frozen(np.asarray(steps, dtype=np.int64))
        self.times: Floats = _frozen(np.asarray(times, dtype=np.float64))
        """Unix seconds."""
        self.values: Floats = _frozen(np.asarray(values, dtype=np.float64))
        self.start = start if start is not None else (float(self.times[0]) if len(self.times) else 0.0)
        """When the run started: the zero of relative time."""
        self.exact = dict(exact or {})
        """Logged integers that do not fit a float64, by position."""
        self.superseded = superseded
        """Which points a later attempt has logged again; None if there are none."""
        self.thinned = thinned
        """For a thinned series (`compact/thin.py`), per point: the number of logged points it represents, and their
        mean. None if all points are here."""
        self._summary = summary
        self._pyramid = pyramid if thinned is None else None
        self._times_sorted = times_sorted
        self._smoothed: dict[tuple[str, float, str], Floats] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Point]:
        columns = zip(self.steps.tolist(), self.times.tolist(), self.values.tolist(), strict=True)
        for at, (step, time, value) in enumerate(columns):
            yield Point(step, time, self.exact.get(at, value))

    @overload
    def __getitem__(self, at: int) -> Point: ...
    @overload
    def __getitem__(self, at: slice | npt.NDArray[Any]) -> Series: ...
    def __getitem__(self, at: int | slice | npt.NDArray[Any]) -> Point | Series:
        """A point by position, or a subset of the series by a slice or a mask."""
        if not isinstance(at, slice | np.ndarray):
            place = range(len(self))[at]
            value = self.exact.get(place, float(self.values[place]))
            return Point(int(self.steps[place]), float(self.times[place]), value)
        kept = np.arange(len(self))[at]
        exact = {new: self.exact[old] for new, old in enumerate(kept.tolist()) if old in self.exact}
        return Series(
            self.name,
            self.steps[at],
            self.times[at],
            self.values[at],
            rank=self.rank,
            run=self.run,
            start=self.start,
            exact=exact,
            superseded=None if self.superseded is None else self.superseded[at],
            thinned=None if self.thinned is None else self.thinned[at],
        )

    def between(self, first: int, last: int) -> Series:
        """The points from step `first` to step `last`, both included."""
        start = np.searchsorted(self.steps, first, side="left")
        return self[int(start) : int(np.searchsorted(self.steps, last, side="right"))]

    @property
    def summary(self) -> MetricSummary:
        """Of all logged points; for a part of a thinned series, of the kept ones."""
        return self._summary or summarise_points(self.steps, self.values)

    # -- axes --------------------------------------------------------------------------------------------------

    def x(self, axis: str | Series = "step") -> npt.NDArray[Any]:
        """The x positions: "step", "wall" (unix seconds), "relative" (since the start), or another series."""
        if isinstance(axis, Series):
            return as_x(axis, self)
        if axis == "step":
            return self.steps
        if axis == "wall":
            return self.times
        if axis == "relative":
            return self.times - self.start
        raise UsageError(f"x={axis!r} is not an axis; use step, wall, relative, or give a series")

    def _is_sorted(self, axis: str | Series) -> bool | None:
        if axis == "step":
            return True
        return self._times_sorted if axis in ("wall", "relative") else None

    def downsample(
        self,
        buckets: int = 800,
        x: str | Series = "step",
        lo: float | None = None,
        hi: float | None = None,
        *,
        smoothing: tuple[str, float] | None = None,
        neighbours: bool = False,
    ) -> Buckets:
        """The series in at most `buckets` buckets along x, each with its extremes (see `downsample.py`).

        `smoothing=("ema", 0.9)` also gives the smoothed line, computed from all points and sampled at each bucket.
        """
        pyramid = self._pyramid if isinstance(x, str) else None
        places = self.x(x)
        found = downsample(
            places,
            self.values,
            buckets,
            lo,
            hi,
            is_sorted=self._is_sorted(x),
            neighbours=neighbours,
            pyramid=pyramid,
        )
        if self.thinned is not None:
            found = replace(found, value=_block_means(self.thinned, found))
        if smoothing is None or smoothing[0] == "none":
            return found
        line = self._smooth(*smoothing, x, found.order)
        return replace(found, smooth=_means(line, found))

    def smooth(self, kind: str, amount: float, x: str | Series = "step") -> Series:
        """The series with smoothed values: "ema" (weight of the past), "gaussian" or "mean" (width in points)."""
        values = smooth(kind, self.values if self.thinned is None else self.thinned[:, 1], amount, self.x(x))
        return Series(self.name, self.steps, self.times, values, rank=self.rank, run=self.run, start=self.start)

    def _smooth(self, kind: str, amount: float, x: str | Series, order: npt.NDArray[np.int64] | None) -> Floats:
        """The smoothed values in the order of x; cached, because a chart asks again with every zoom."""
        key = (kind, amount, x) if isinstance(x, str) else None
        known = self._smoothed.get(key) if key else None
        if known is None:
            places, values = self.x(x), self.values if self.thinned is None else self.thinned[:, 1]
            if order is not None:
                places, values = places[order], values[order]
            known = smooth(kind, values, amount, places)
            if key:
                self._smoothed = {key: known}
        return known

    # -- other shapes ------------------------------------------------------------------------------------------

    def to_pandas(self) -> Any:
        """A DataFrame with columns step, time and value."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("to_pandas()", "pandas", extra="pandas") from None
        time = pd.to_datetime(self.times, unit="s", utc=True)
        return pd.DataFrame({"step": self.steps, "time": time, "value": self.values})

    def to_polars(self) -> Any:
        """A polars DataFrame with columns step, time and value."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("to_polars()", "polars", extra="polars") from None
        time = pl.from_epoch(pl.Series((self.times * 1e6).astype(np.int64)), time_unit="us").dt.replace_time_zone("UTC")
        return pl.DataFrame({"step": self.steps, "time": time, "value": self.values})

    def __repr__(self) -> str:
        where = f" of run {self.run}" if self.run else ""
        if not len(self):
            return f"<Series {self.name!r}{where}: no points>"
        return f"<Series {self.name!r}{where}: {self._in_words()}>"

    def _in_words(self) -> str:
        summary = self.summary
        words = [
            f"{len(self)} points, steps {self.steps[0]} to {self.steps[-1]}",
            f"last {summary.last:.6g}, min {summary.min:.6g}, max {summary.max:.6g}",
        ]
        if summary.nan or summary.inf:
            words.append(f"{summary.nan} NaN, {summary.inf} Inf")
        if self.rank:
            words.append(f"rank {self.rank}")
        return "; ".join(words)

    def _repr_html_(self) -> str:
        """For notebooks: the numbers and a sparkline."""
        head = f"<b>{escape(self.name)}</b> {escape(self._in_words() if len(self) else 'no points')}"
        return f"<div>{head}<br>{_line(self)}</div>"


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view: npt.NDArray[Any] = array.view()
    view.flags.writeable = False
    return view


def _means(line: Floats, buckets: Buckets) -> Floats:
    """The smoothed line at each bucket: its mean there."""
    if not len(buckets):
        return np.empty(0)
    starts, ends = buckets.starts, buckets.starts + buckets.count
    if buckets.points == len(starts):
        return line[starts]
    finite = np.isfinite(line)
    used = line if finite.all() else np.where(finite, line, 0.0)
    with np.errstate(all="ignore"):
        total = np.add.reduceat(used[: ends[-1]], starts)
        mean: Floats = total / np.add.reduceat(finite[: ends[-1]].astype(np.float64), starts)
    return mean


def _block_means(thinned: Floats, buckets: Buckets) -> Floats:
    """The mean of each bucket of several points, from the means of the intervals they represent."""
    if buckets.points == len(buckets):
        return buckets.value
    count, mean = (thinned if buckets.order is None else thinned[buckets.order]).T
    end = int(buckets.starts[-1] + buckets.count[-1])
    with np.errstate(all="ignore"):
        total = np.add.reduceat(np.where(count > 0, count * mean, 0.0)[:end], buckets.starts)
        found = total / np.add.reduceat(count[:end], buckets.starts)
    one_or_none = (buckets.count == 1) | ~np.isfinite(found)
    return np.where(one_or_none, buckets.value, np.clip(found, buckets.low, buckets.high))


def _line(series: Series, width: int = 240, height: int = 40) -> str:
    """The series as a small SVG line of its buckets' extremes."""
    seen = series.downsample(width)
    usable = np.isfinite(seen.low)
    if not usable.any():
        return ""
    x, low, high = seen.x[usable], seen.low[usable], seen.high[usable]
    across = (x - x[0]) / ((x[-1] - x[0]) or 1.0) * width
    least, span = low.min(), (high.max() - low.min()) or 1.0
    points = " ".join(
        f"{at:.1f},{height - height * ((value - least) / span):.1f}"
        for at, pair in zip(across, zip(low, high, strict=True), strict=True)
        for value in dict.fromkeys(pair)
    )
    return (
        f'<svg width="{width}" height="{height}"><polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )
