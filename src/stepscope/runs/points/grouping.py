"""Runs grouped into one line with a band: the mean over seeds, and the spread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stepscope.errors import NotFound
from stepscope.runs.points.align import align
from stepscope.runs.points.series import Series

Floats = npt.NDArray[np.float64]


class HasSeries(Protocol):
    """What grouping needs from a run."""

    @property
    def config(self) -> dict[str, Any]: ...
    def series(self, name: str) -> Series: ...


@dataclass(frozen=True)
class Band:
    """Several series as one: statistics of the finite values at each step; NaN where there are none."""

    steps: npt.NDArray[np.int64]
    mean: Floats
    low: Floats
    high: Floats
    std: Floats
    """The sample standard deviation (n - 1); 0 for a single value."""
    median: Floats
    count: npt.NDArray[np.int64]
    """Number of series with a value at the step."""


@dataclass(frozen=True)
class Group:
    """Runs that share a config value. `value` is None for runs without the key."""

    value: Any
    series: tuple[Series, ...]
    band: Band


def band(series: Sequence[Series]) -> Band:
    """Interpolate series onto common steps and compute their statistics.

    >>> seeds = [Series("loss", [0, 1], [0.0, 1.0], values) for values in ([3.0, 1.0], [5.0, 2.0])]
    >>> band(seeds).mean.tolist(), band(seeds).high.tolist()
    ([4.0, 1.5], [5.0, 2.0])
    """
    aligned = align(series, "interpolate")
    values = aligned.values
    finite = np.isfinite(values)
    count = finite.sum(axis=0).astype(np.int64)
    some = count > 0
    with np.errstate(all="ignore"):
        total = np.where(finite, values / np.maximum(count, 1), 0.0).sum(axis=0)
        spread = np.where(finite, values - total, 0.0)
        deviation = np.sqrt((spread**2).sum(axis=0) / np.maximum(count - 1, 1))
    return Band(
        aligned.steps,
        np.where(some, total, np.nan),
        np.where(some, np.where(finite, values, np.inf).min(axis=0, initial=np.inf), np.nan),
        np.where(some, np.where(finite, values, -np.inf).max(axis=0, initial=-np.inf), np.nan),
        np.where(some, deviation, np.nan),
        _median(values, finite, count),
        count,
    )


def _median(values: Floats, finite: npt.NDArray[np.bool_], count: npt.NDArray[np.int64]) -> Floats:
    """The median of the finite values of each column."""
    if not values.size:
        return np.full(values.shape[1] if values.ndim == 2 else 0, np.nan)
    ranked = np.sort(np.where(finite, values, np.inf), axis=0)
    column = np.arange(values.shape[1])
    lower = ranked[np.maximum((count - 1) // 2, 0), column]
    upper = ranked[np.minimum(count // 2, values.shape[0] - 1), column]
    upper = np.where(count % 2 == 1, lower, upper)
    return np.where(count > 0, lower / 2 + upper / 2, np.nan)


def group_series(runs: Iterable[HasSeries], name: str, by: str) -> list[Group]:
    """The series `name` of runs, grouped by the config key `by`. Runs without the series are excluded."""
    groups: dict[tuple[str, str], tuple[Any, list[Series]]] = {}
    for run in runs:
        try:
            series = run.series(name)
        except NotFound:
            continue
        value = run.config.get(by)
        # True, 1 and 1.0 are equal in Python, but not to somebody who compares configs.
        key = (type(value).__name__, repr(value))
        groups.setdefault(key, (value, []))[1].append(series)
    return [Group(value, tuple(members), band(members)) for value, members in groups.values()]
