"""Summary statistics of a series: last, minimum, maximum, mean, first; updated incrementally.

`min`, `max` and `mean` are over the finite values, so that one NaN does not hide the rest; `last` and `first` are what
they are, NaN included. Order is by step, ties in the order they were logged.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.records import MetricRule

if TYPE_CHECKING:
    from stepscope.runs.points.series import Series

_NAN = float("nan")


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One series in a few numbers. Without a finite value `min`, `max` and `mean` are NaN and their steps None."""

    last: float = _NAN
    min: float = _NAN
    max: float = _NAN
    mean: float = _NAN
    first: float = _NAN
    count: int = 0
    nan: int = 0
    inf: int = 0
    last_step: int | None = None
    min_step: int | None = None
    """The first step at which the minimum occurred."""
    max_step: int | None = None
    first_step: int | None = None

    @property
    def finite(self) -> int:
        return self.count - self.nan - self.inf

    def by_rule(self, rule: str | None) -> float | None:
        """The number a summary rule chooses; the last value without a rule, None for the rule "none"."""
        if rule == "none" or not self.count:
            return None
        value: float = getattr(self, rule or "last")
        return value


def rule_for(name: str, rules: Iterable[MetricRule]) -> MetricRule | None:
    """The rule for a metric: its own before a `*` pattern, later before earlier."""
    fitting = [rule for rule in rules if rule.name == name]
    if not fitting:
        fitting = [rule for rule in rules if rule.name.endswith("*") and name.startswith(rule.name[:-1])]
    return fitting[-1] if fitting else None


def summarise(series: Series) -> MetricSummary:
    """A series in a few numbers.

    >>> from stepscope.runs.points.series import Series
    >>> summary = summarise(Series("loss", [0, 1, 2], [0.0, 1.0, 2.0], [0.5, 0.1, float("nan")]))
    >>> summary.min, summary.min_step, summary.last
    (0.1, 1, nan)
    """
    return summarise_points(series.steps, series.values)


def summarise_points(steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> MetricSummary:
    """The same for bare columns, in any order."""
    table = ColumnSummaries(1)
    table.add(steps, values.reshape(-1, 1))
    return table.summary(0)


def join(parts: Iterable[MetricSummary]) -> MetricSummary:
    """The summary of several parts of one series, given in logging order."""
    total = MetricSummary()
    for part in parts:
        total = _joined(total, part) if total.count and part.count else (total if total.count else part)
    return total


def _joined(a: MetricSummary, b: MetricSummary) -> MetricSummary:
    late = b if (b.last_step or 0) >= (a.last_step or 0) else a
    early = a if (a.first_step or 0) <= (b.first_step or 0) else b
    least = b if not a.finite or b.min < a.min else a
    most = b if not a.finite or b.max > a.max else a
    mean = a.mean if a.finite else b.mean
    if a.finite and b.finite:
        share = b.finite / (a.finite + b.finite)
        mean = a.mean * (1 - share) + b.mean * share
    return MetricSummary(
        last=late.last,
        last_step=late.last_step,
        first=early.first,
        first_step=early.first_step,
        min=least.min,
        min_step=least.min_step,
        max=most.max,
        max_step=most.max_step,
        mean=mean,
        count=a.count + b.count,
        nan=a.nan + b.nan,
        inf=a.inf + b.inf,
    )


class ColumnSummaries:
    """The summaries of all columns of a growing table: a few array operations per batch, for any number of columns."""

    def __init__(self, columns: int) -> None:
        self.count = 0
        self.first_step = 0
        self.last_step = 0
        self.first = np.full(columns, _NAN)
        self.last = np.full(columns, _NAN)
        self.low = np.full(columns, np.inf)
        self.high = np.full(columns, -np.inf)
        self.low_step = np.zeros(columns, dtype=np.int64)
        self.high_step = np.zeros(columns, dtype=np.int64)
        self.mean = np.zeros(columns)
        self.finite = np.zeros(columns, dtype=np.int64)
        self.nan = np.zeros(columns, dtype=np.int64)

    def add(self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        """Add rows that follow those before."""
        if not len(steps):
            return
        self._ends(steps, values)
        finite = np.isfinite(values)
        if finite.all():
            low_at, high_at = values.argmin(axis=0), values.argmax(axis=0)
            lows, highs, counts = values, values, np.full(values.shape[1], len(steps))
            sums = self._mean(values, len(steps))
        else:
            lows = np.where(finite, values, np.inf)
            highs = np.where(finite, values, -np.inf)
            low_at, high_at = lows.argmin(axis=0), highs.argmax(axis=0)
            counts = finite.sum(axis=0)
            sums = self._mean(np.where(finite, values, 0.0), np.maximum(counts, 1))
            self.nan += np.isnan(values).sum(axis=0)
        column = np.arange(values.shape[1])
        self._extremes(steps, lows[low_at, column], low_at, highs[high_at, column], high_at)
        self.finite += counts
        share = counts / np.maximum(self.finite, 1)
        # Not mean + (new - mean) * share: the difference of two huge values may overflow.
        self.mean = self.mean * (1 - share) + sums * share
        self.count += len(steps)

    @staticmethod
    def _mean(values: npt.NDArray[np.float64], count: int | npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):  # huge values of both signs sum to infinities of both
            total: npt.NDArray[np.float64] = values.sum(axis=0)
            if np.isfinite(total).all():
                return total / count
            huge: npt.NDArray[np.float64] = (values / count).sum(axis=0)  # values near the largest float
            return huge

    def _ends(self, steps: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> None:
        newest = len(steps) - 1 - int(steps[::-1].argmax())
        oldest = int(steps.argmin())
        if not self.count or steps[newest] >= self.last_step:
            self.last_step, self.last = int(steps[newest]), values[newest].copy()
        if not self.count or steps[oldest] < self.first_step:
            self.first_step, self.first = int(steps[oldest]), values[oldest].copy()

    def _extremes(
        self,
        steps: npt.NDArray[np.int64],
        low: npt.NDArray[np.float64],
        low_at: npt.NDArray[np.int64],
        high: npt.NDArray[np.float64],
        high_at: npt.NDArray[np.int64],
    ) -> None:
        lower, higher = low < self.low, high > self.high
        self.low = np.where(lower, low, self.low)
        self.low_step = np.where(lower, steps[low_at], self.low_step)
        self.high = np.where(higher, high, self.high)
        self.high_step = np.where(higher, steps[high_at], self.high_step)

    def summary(self, column: int) -> MetricSummary:
        if not self.count:
            return MetricSummary()
        finite = int(self.finite[column])
        nan = int(self.nan[column])
        return MetricSummary(
            last=float(self.last[column]),
            first=float(self.first[column]),
            last_step=self.last_step,
            first_step=self.first_step,
            count=self.count,
            nan=nan,
            inf=self.count - finite - nan,
            min=float(self.low[column]) if finite else _NAN,
            max=float(self.high[column]) if finite else _NAN,
            mean=float(self.mean[column]) if finite else _NAN,
            min_step=int(self.low_step[column]) if finite else None,
            max_step=int(self.high_step[column]) if finite else None,
        )
