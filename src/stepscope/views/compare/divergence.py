"""Where two curves diverge: the first step from which they stay further apart than their noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.runs.points.series import Series

Floats = npt.NDArray[np.float64]

BUCKETS = 400
SHOWN = 120
"""Number of points in the preview."""
FACTOR = 4.0
"""How many times the noise the curves must be apart; 4 is rare by chance even over hundreds of steps."""
STAY = 0.02
"""The fraction of the curve for which they must stay apart, so that a spike does not count."""
LEAST_STAY = 3
LEAST_POINTS = 5
"""With fewer points of two single runs, the noise cannot be estimated."""


class Parting(msgspec.Struct):
    """How one metric developed on the two sides."""

    key: str
    step: int | None
    """The first step of it; None if the curves never diverge."""
    a: float | None
    b: float | None
    """The means of the two sides there."""
    noise: float | None
    """The standard deviation of the difference by chance alone; None if there are too few points."""
    noise_from: str
    """How the noise was measured: `seeds` or `steps`."""
    a_end: float | None
    b_end: float | None
    a_lost: int | None = None
    """The first step from which side `a` is no longer finite."""
    b_lost: int | None = None
    x: list[float] = []
    a_line: list[float | None] = []
    b_line: list[float | None] = []
    """A preview of the two curves."""


def parting(key: str, a: Sequence[Series], b: Sequence[Series]) -> Parting | None:
    """Compare one metric of two sides, each one run or several seeds; None if they share no step.

    Each side is the mean of its runs. The noise is the spread over the seeds of a side or, with one run per side, the
    point-to-point variation of each curve.
    """
    runs_a, runs_b = _with_points(a), _with_points(b)
    if not runs_a or not runs_b:
        return None
    grid = _grid([*runs_a, *runs_b])
    if grid is None:
        return None
    left, right = _all_on(grid, runs_a), _all_on(grid, runs_b)
    mean_a, mean_b = _mean(left), _mean(right)
    lost_a, lost_b = _lost(runs_a), _lost(runs_b)
    seeded = max(len(left), len(right)) > 1
    noise = _seed_noise(left, right) if seeded else _step_noise(mean_a, mean_b)
    known = seeded or len(grid) >= LEAST_POINTS or np.array_equal(mean_a, mean_b, equal_nan=True)
    apart = _first_apart(mean_a, mean_b, noise) if known else None
    at, step = _parts_at(grid, apart, _one_lost(lost_a, lost_b))
    shown = np.unique(np.linspace(0, len(grid) - 1, min(SHOWN, len(grid))).astype(np.int64))
    return Parting(
        key=key,
        step=step,
        a=_number_at(mean_a, at),
        b=_number_at(mean_b, at),
        noise=_number(noise[at] if at is not None else np.median(noise)) if known else None,
        noise_from="seeds" if seeded else "steps",
        a_end=_end(runs_a),
        b_end=_end(runs_b),
        a_lost=lost_a,
        b_lost=lost_b,
        x=grid[shown].tolist(),
        a_line=_numbers(mean_a[shown]),
        b_line=_numbers(mean_b[shown]),
    )


def _with_points(side: Sequence[Series]) -> list[Series]:
    return [one for one in side if len(one)]


def _all_on(grid: Floats, side: Sequence[Series]) -> Floats:
    return np.array([_on(grid, one) for one in side])


def _parts_at(grid: Floats, apart: int | None, first_lost: int | None) -> tuple[int | None, int | None]:
    """The place in the grid and the step: where the curves are apart, or earlier where only one is not finite."""
    step = None if apart is None else math.floor(grid[apart])
    if first_lost is None or (step is not None and step <= first_lost):
        return apart, step
    return min(int(np.searchsorted(grid, first_lost)), len(grid) - 1), first_lost


def _number_at(values: Floats, at: int | None) -> float | None:
    return None if at is None else _number(values[at])


def _one_lost(a: int | None, b: int | None) -> int | None:
    """The step from which only one side is no longer finite."""
    lost = [step for step in (a, b) if step is not None]
    return min(lost) if lost and a != b else None


def _grid(series: Sequence[Series]) -> Floats | None:
    """The steps to compare at: the shared range, every step if there are few, else evenly spaced."""
    low = max(int(one.steps[0]) for one in series)
    high = min(int(one.steps[-1]) for one in series)
    if low > high:
        return None
    steps = np.unique(np.concatenate([one.steps[(one.steps >= low) & (one.steps <= high)] for one in series]))
    if not len(steps):
        return None
    if len(steps) <= BUCKETS:
        return steps.astype(np.float64)
    return np.unique(np.linspace(low, high, BUCKETS).round())


def _on(grid: Floats, series: Series) -> Floats:
    """A series on the grid: the mean of the finite points around each position, interpolated where there are none."""
    steps = series.steps.astype(np.float64)
    edges = np.concatenate([[-np.inf], (grid[1:] + grid[:-1]) / 2, [np.inf]])
    place = np.searchsorted(edges, steps, side="right") - 1
    inside = (steps >= grid[0]) & (steps <= grid[-1])
    finite = np.isfinite(series.values)
    used = inside & finite
    count = np.bincount(place[used], minlength=len(grid)).astype(np.float64)
    total = np.bincount(place[used], weights=series.values[used], minlength=len(grid))
    touched = np.bincount(place[inside], minlength=len(grid)) > 0
    with np.errstate(all="ignore"):
        found: Floats = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    gaps = ~touched
    if gaps.any() and used.any():
        found[gaps] = np.interp(grid[gaps], steps[finite], series.values[finite], left=np.nan, right=np.nan)
    return found


def _mean(values: Floats) -> Floats:
    """The mean of each column; NaN if any value is not finite, because the mean of the rest would jump."""
    finite = np.isfinite(values).all(axis=0)
    with np.errstate(all="ignore"):
        mean: Floats = np.where(finite, np.where(finite, values, 0.0).mean(axis=0), np.nan)
    return mean


def _seed_noise(left: Floats, right: Floats) -> Floats:
    """The standard error of the difference of the means at each step, from the seeds' spread around it."""
    scale = _scale(left, right)
    left, right = left / scale, right / scale
    total = np.zeros(left.shape[1])
    for side in (left, right):
        if len(side) < 2:  # one run: assume the spread of the other side
            side = right if side is left else left
            share = 1.0
        else:
            share = 1 / len(side)
        with np.errstate(all="ignore"):
            variance = np.nansum((side - _mean(side)) ** 2, axis=0) / max(1, len(side) - 1)
        total += share * _smooth(np.nan_to_num(variance))
    noise: Floats = scale * np.sqrt(total)
    return noise


def _step_noise(a: Floats, b: Floats) -> Floats:
    """The same for two single runs: from the variation between neighbors, which a trend hardly affects."""
    scale = _scale(a, b)
    variance = 0.0
    for side in (a, b):
        jumps = np.diff(side[np.isfinite(side)] / scale)
        if len(jumps):
            variance += (1.4826 * float(np.median(np.abs(jumps - np.median(jumps)))) / math.sqrt(2)) ** 2
    return np.full(len(a), scale * math.sqrt(variance))


def _scale(a: Floats, b: Floats) -> float:
    """The largest finite magnitude: the square of a value near 1e300 would overflow."""
    sizes = np.abs(np.concatenate([a.ravel(), b.ravel()]))
    return float(np.max(sizes, where=np.isfinite(sizes), initial=0.0)) or 1.0


def _smooth(values: Floats) -> Floats:
    """Two or three seeds may coincide at a step; their spread around it is more reliable."""
    width = max(1, len(values) // 20)
    kernel = np.ones(2 * width + 1)
    weight = np.convolve(np.ones(len(values)), kernel, "same")
    smooth: Floats = np.convolve(values, kernel, "same")[: len(values)] / weight[: len(values)]
    return smooth


def _first_apart(a: Floats, b: Floats, noise: Floats) -> int | None:
    """The first position from which the two stay apart for a while, always on the same side."""
    scale = np.nanmax(np.abs(np.concatenate([a, b, [0.0]])))
    least = 1e-9 * (scale if math.isfinite(scale) else 1.0)
    with np.errstate(all="ignore"):
        difference = a - b
        apart = np.abs(difference) > np.maximum(FACTOR * noise, least)
    apart &= np.isfinite(difference)
    stay = min(len(a), max(LEAST_STAY, math.ceil(STAY * len(a))))
    sign = np.sign(difference) * apart
    run = 0
    for at, now in enumerate(sign.tolist()):
        run = run + 1 if now != 0 and at and now == sign[at - 1] else int(now != 0)
        if run >= stay:
            return at - stay + 1
    return None


def _lost(side: Sequence[Series]) -> int | None:
    """The step from which any run of a side is never finite again; None if all end finite."""
    found = []
    for one in side:
        finite = np.flatnonzero(np.isfinite(one.values))
        if not len(finite):
            found.append(int(one.steps[0]))
        elif finite[-1] < len(one) - 1:
            found.append(int(one.steps[finite[-1] + 1]))
    return min(found, default=None)


def _end(side: Sequence[Series]) -> float | None:
    """The mean of the last finite values."""
    last = [float(one.values[finite[-1]]) for one in side if len(finite := np.flatnonzero(np.isfinite(one.values)))]
    return float(np.mean(last)) if last else None


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(values: Floats) -> list[float | None]:
    return [_number(value) for value in values]
