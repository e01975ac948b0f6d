"""Put several series on one axis, or use one series as the axis of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.runs.points.series import Series

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
How = Literal["inner", "outer", "nearest", "interpolate"]


@dataclass(frozen=True)
class Aligned:
    """Series side by side: one row of `values` per series, NaN where a series has no value."""

    steps: Ints
    values: Floats
    names: tuple[str, ...]


def align(series: Sequence[Series], how: How = "outer") -> Aligned:
    """Series on common steps. With several points at a step, the last one logged counts.

    inner: steps that all have · outer: steps that any has · nearest: the first one's steps, with each other series'
    nearest point · interpolate: like outer, with straight lines between a series' points (not beyond its ends).

    >>> from stepscope.runs.points.series import Series
    >>> loss = Series("loss", [0, 1, 2], [0.0, 1.0, 2.0], [3.0, 2.0, 1.0])
    >>> val_loss = Series("val_loss", [0, 2], [0.0, 2.0], [3.5, 1.5])
    >>> align([loss, val_loss], "inner").values.tolist()
    [[3.0, 1.0], [3.5, 1.5]]
    """
    if not series:
        return Aligned(np.empty(0, np.int64), np.empty((0, 0)), ())
    columns = [_last_at_each_step(one) for one in series]
    if how == "nearest":
        steps = columns[0][0]
    elif how == "inner":
        steps = columns[0][0]
        for other, _values in columns[1:]:
            steps = np.intersect1d(steps, other, assume_unique=True)
    elif how in ("outer", "interpolate"):
        steps = np.unique(np.concatenate([column[0] for column in columns]))
    else:
        raise UsageError(f"cannot align by {how!r}; choose inner, outer, nearest or interpolate")
    place = {"nearest": _nearest, "interpolate": _between}.get(how, _same)
    values = np.array([place(steps, *column) for column in columns]).reshape(len(columns), len(steps))
    return Aligned(steps, values, tuple(one.name for one in series))


def _last_at_each_step(series: Series) -> tuple[Ints, Floats]:
    steps = series.steps
    if len(steps) < 2:
        return steps, series.values
    last = np.append(steps[1:] != steps[:-1], True)
    return (steps, series.values) if last.all() else (steps[last], series.values[last])


def _same(steps: Ints, own: Ints, values: Floats) -> Floats:
    if len(own) == len(steps) and bool((own == steps).all()):
        return values
    out = np.full(len(steps), np.nan)
    if len(own):
        at = np.minimum(np.searchsorted(own, steps), len(own) - 1)
        hit = own[at] == steps
        out[hit] = values[at[hit]]
    return out


def _nearest(steps: Ints, own: Ints, values: Floats) -> Floats:
    if not len(own):
        return np.full(len(steps), np.nan)
    right = np.minimum(np.searchsorted(own, steps), len(own) - 1)
    left = np.maximum(right - 1, 0)
    # As unsigned numbers the distances are right for any two 64-bit steps.
    to_left = (steps - own[left]).view(np.uint64)
    to_right = (own[right] - steps).view(np.uint64)
    nearer_left = (own[right] < steps) | ((own[left] <= steps) & (to_left <= to_right))
    return values[np.where(nearer_left, np.where(own[right] < steps, right, left), right)]


def _between(steps: Ints, own: Ints, values: Floats) -> Floats:
    if len(own) == len(steps) and bool((own == steps).all()):
        return values
    usable = np.isfinite(values)
    if not usable.any():
        return _same(steps, own, values)
    wanted = steps.astype(np.float64)
    line: Floats = np.interp(wanted, own[usable].astype(np.float64), values[usable], left=np.nan, right=np.nan)
    exact = _same(steps, own, values)
    here = np.isin(steps, own)
    line[here] = exact[here]  # logged values stay as they are, NaN and Inf included
    return line


def as_x(axis: Series, series: Series) -> Floats:
    """The x position of each point of `series` when the values of `axis` are the x-axis; NaN if it has none.

    Points logged at the same step are paired: the second at a step with the second, and so on (or the last, if there
    are fewer). If the two share no step but have the same length, they are paired by order.
    """
    count = len(series.steps)
    if not len(axis.steps) or not count:
        return np.full(count, np.nan)
    if len(axis.steps) == count and bool((axis.steps == series.steps).all()):
        return axis.values
    first = np.searchsorted(axis.steps, series.steps, side="left")
    stop = np.searchsorted(axis.steps, series.steps, side="right")
    found = stop > first
    if not found.any():
        return axis.values if len(axis.steps) == count else np.full(count, np.nan)
    nth = np.arange(count) - np.searchsorted(series.steps, series.steps, side="left")
    at = np.minimum(first + nth, stop - 1)
    return np.where(found, axis.values[np.where(found, at, 0)], np.nan)
