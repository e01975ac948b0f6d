"""Smoothing over all points of a series, before a chart downsamples them.

Values that are not finite are skipped: they neither spoil their neighbors nor break the line. No method subtracts
large running sums, so one huge spike costs no precision elsewhere. A million points take some tens of milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stepscope.errors import UsageError

Floats = npt.NDArray[np.float64]
Kind = Literal["none", "ema", "gaussian", "mean"]

_MOST_TAPS = 41


def smooth(kind: str, values: Floats, amount: float, x: npt.NDArray[Any] | None = None) -> Floats:
    """Smooth `values` with the method `kind`: "ema", "gaussian", "mean", or "none".

    `amount` is the weight of the past for "ema" (0 to below 1), the standard deviation in points for "gaussian", and
    the width of the window in points for "mean". `x` tells "ema" how far apart the points are.
    """
    if kind == "none":
        return values
    if not math.isfinite(amount):
        raise UsageError(f"the amount of smoothing must be a number, not {amount}")
    if kind == "ema":
        return ema(values, amount, x)
    if kind == "gaussian":
        return gaussian(values, amount)
    if kind == "mean":
        return running_mean(values, round(amount))
    raise UsageError(f"there is no smoothing {kind!r}; expected none, ema, gaussian or mean")


def ema(values: Floats, weight: float, x: npt.NDArray[Any] | None = None) -> Floats:
    """The exponential moving average, bias-corrected at the start.

    With `x`, the weight applies to the median distance between points: after a longer gap the past counts less.
    Before the first finite value the result is NaN.

    >>> ema(np.array([1.0, 1.0, 4.0]), 0.5)
    array([1.        , 1.        , 2.71428571])
    """
    if not 0 <= weight < 1:
        raise UsageError(f"the weight of the past must be at least 0 and below 1, not {weight}")
    if weight == 0 or len(values) == 0:
        return np.array(values)
    decay = np.full(len(values), float(weight)) if x is None else _decay(x, weight)
    finite = np.isfinite(values)
    everything = bool(finite.all())
    top = _scan(decay, values if everything else np.where(finite, values, 0.0))
    if everything and (decay[0] == decay).all():
        bottom = np.full(len(values), 1.0)
        start = min(len(values), math.ceil(-40 / math.log(weight)))  # beyond, the start is forgotten
        bottom[:start] = -np.expm1(math.log(weight) * np.arange(1, start + 1))
        bottom /= 1 - weight
    else:
        bottom = _scan(decay, finite.astype(np.float64))
    return _ratio(top, bottom, 0.0)


def _decay(x: npt.NDArray[Any], weight: float) -> Floats:
    gaps = np.diff(x.astype(np.float64), prepend=float(x[0]))
    ahead = gaps[gaps > 0]
    usual = float(np.median(ahead)) if len(ahead) else 1.0
    # Points at the same x, or out of order, count as one median distance apart: a repeated step must not count double.
    gaps = np.where(gaps > 0, gaps, usual) / usual
    if bool((gaps == 1.0).all()):
        return np.full(len(x), weight)
    return np.exp(gaps * math.log(weight))


def _scan(decay: Floats, values: Floats) -> Floats:
    """`out[i] = decay[i] * out[i - 1] + values[i]`, without a Python loop over the points.

    The points are cut into blocks, about as many as each is long. All blocks are computed in parallel from zero;
    then each block's initial value is passed on, damped by the decays so far.
    """
    count = len(values)
    length = max(1, math.isqrt(count))
    rows = -(-count // length)
    padding = rows * length - count
    a = np.pad(decay, (0, padding)).reshape(rows, length).T.copy()
    out = np.pad(values, (0, padding)).reshape(rows, length).T.copy()
    with np.errstate(under="ignore", over="ignore"):
        step = np.empty(rows)
        for at in range(1, length):
            np.multiply(a[at], out[at - 1], out=step)
            out[at] += step
            a[at] *= a[at - 1]  # becomes the product of all decays since the block began
        carry = np.zeros(rows)
        ends, products = out[-1].tolist(), a[-1].tolist()
        held = 0.0
        for row in range(1, rows):
            held = ends[row - 1] + products[row - 1] * held
            carry[row] = held
        out += a * carry
    flat: Floats = out.T.reshape(-1)[:count]
    return flat


def running_mean(values: Floats, width: int) -> Floats:
    """The mean of the `width` points around each point; at the ends, of the available ones."""
    if width < 1:
        raise UsageError(f"the width of a running mean must be 1 point or more, not {width}")
    if width == 1 or len(values) == 0:
        return np.array(values)
    return _weighted(values, lambda line: _box(line, width), width, 0.5)


def gaussian(values: Floats, deviation: float) -> Floats:
    """A Gaussian mean around each point with this standard deviation, in points.

    Wide Gaussians are approximated by four running sums, to within a few percent, at a cost independent of the
    width.
    """
    if deviation < 0:
        raise UsageError(f"the standard deviation must not be negative, not {deviation}")
    if deviation == 0 or len(values) == 0:
        return np.array(values)
    reach = math.ceil(4 * deviation)
    if 2 * reach + 1 <= _MOST_TAPS:
        bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
        bell /= bell.sum()

        def ring(line: Floats) -> Floats:
            whole: Floats = np.convolve(line, bell)
            return whole[reach : reach + len(line)]

        return _weighted(values, ring, reach, 1e-12)
    widths = _boxes(deviation)

    def blur(line: Floats) -> Floats:
        for width in widths:
            line = _box(line, width) / width
        return line

    return _weighted(values, blur, sum(widths), 1e-12)


def _weighted(values: Floats, blur: Callable[[Floats], Floats], reach: int, least: float) -> Floats:
    """Blurred values over blurred weights: missing values and those beyond the ends do not count.

    `reach` is a point's range of influence; with no value missing, the weights differ only within it of the ends.
    """
    finite = np.isfinite(values)
    count = len(values)
    if not finite.all():
        total, weight = blur(np.where(finite, values, 0.0)), blur(finite.astype(np.float64))
    else:
        total = blur(values)
        ends = blur(np.ones(min(count, 4 * reach)))
        weight = ends
        if count > len(ends):
            weight = np.full(count, ends[2 * reach])
            weight[: 2 * reach], weight[-2 * reach :] = ends[: 2 * reach], ends[-2 * reach :]
    return _ratio(total, weight, least)


def _ratio(total: Floats, weight: Floats, least: float) -> Floats:
    with np.errstate(all="ignore"):
        mean: Floats = np.where(weight > least, total / weight, np.nan)
    return mean


def _boxes(deviation: float, passes: int = 4) -> list[int]:
    """Odd widths of running sums whose variances add up to the Gaussian's."""
    wanted = 12 * deviation**2
    ideal = math.sqrt(wanted / passes + 1)
    small = max(1, int(ideal) - (int(ideal) % 2 == 0))
    gain = (small + 2) ** 2 - small**2
    large = round((wanted - passes * (small**2 - 1)) / gain)
    return [small + 2] * max(0, min(passes, large)) + [small] * (passes - max(0, min(passes, large)))


def _box(values: Floats, width: int) -> Floats:
    """The sum over a window of `width` points around each point.

    Sums run forward and backward within blocks of `width`; every window is the end of one block and the beginning of
    the next. Nothing is ever subtracted, so a huge value affects only the windows that contain it.
    """
    count = len(values)
    width = min(width, 2 * count - 1)
    before = (width - 1) // 2
    size = -(-(count + width - 1) // width) * width + width
    padded = np.zeros(size)
    padded[before : before + count] = values
    blocks = padded.reshape(-1, width)
    with np.errstate(over="ignore"):
        ahead = np.cumsum(blocks, axis=1).reshape(-1)
        behind = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1].reshape(-1)
        start = np.arange(count)
        total = behind[:count] + ahead[width - 1 : width - 1 + count]
    whole = start[::width]  # here the window is exactly one block
    total[whole] = behind[whole]
    return total
