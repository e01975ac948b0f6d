"""Is one group of runs better than another, or is it chance? Tests for a handful of seeds, without scipy.

Welch's t-test, because seeds of two settings rarely spread alike; a permutation test, which assumes no shape; a
bootstrapped interval of the difference; Holm's correction, because among many metrics some differ by luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MOST_SPLITS = 20_000
"""Up to this many permutations, all are tried; beyond, as many are sampled."""
RESAMPLES = 10_000
LEVEL = 0.95


class Welch(msgspec.Struct, frozen=True):
    """Welch's t-test of `b` against `a`, two-sided."""

    difference: float
    """mean(b) - mean(a)"""
    error: float
    """The standard error of the difference."""
    t: float
    df: float
    p: float

    def interval(self) -> tuple[float, float]:
        """The 95% interval of the difference."""
        reach = student_t(1 - (1 - LEVEL) / 2, self.df) * self.error
        return self.difference - reach, self.difference + reach


def welch(a: Sequence[float], b: Sequence[float]) -> Welch | None:
    """The test, or None if there is nothing to test: fewer than two values on a side, or no spread at all.

    >>> found = welch([0.90, 0.91, 0.92], [0.94, 0.95, 0.96])
    >>> round(found.t, 3), round(found.df, 1), round(found.p, 4)
    (4.899, 4.0, 0.008)
    """
    if min(len(a), len(b)) < 2:
        return None
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        va, vb = float(left.var(ddof=1)) / len(a), float(right.var(ddof=1)) / len(b)
        difference = float(right.mean() - left.mean())
    variance = va + vb
    if not (variance > 0 and math.isfinite(variance) and math.isfinite(difference)):
        return None
    # As fractions of the variance: squares of tiny ones would underflow.
    df = 1 / ((va / variance) ** 2 / (len(a) - 1) + (vb / variance) ** 2 / (len(b) - 1))
    error = math.sqrt(variance)
    t = difference / error
    return Welch(difference=difference, error=error, t=t, df=df, p=student_p(t, df))


def student_p(t: float, df: float) -> float:
    """The two-sided probability of Student's t with `df` degrees of freedom.

    >>> round(student_p(2.776, 4), 3), round(student_p(-12.706, 1), 3)
    (0.05, 0.05)
    """
    return _beta_share(df / 2, 0.5, df / (df + t * t))


def f_p(f: float, df1: float, df2: float) -> float:
    """The probability of an F at least this large with `df1` and `df2` degrees of freedom.

    >>> round(f_p(4.0, 1, 10), 4) == round(student_p(2.0, 10), 4)
    True
    """
    return _beta_share(df2 / 2, df1 / 2, df2 / (df2 + df1 * f))


def student_t(probability: float, df: float) -> float:
    """The t that is exceeded with probability `1 - probability`, for probabilities above one half.

    >>> round(student_t(0.975, 4), 3), round(student_t(0.975, 30), 3)
    (2.776, 2.042)
    """
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while student_p(high, df) > tail:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, df) > tail else (low, middle)
    return (low + high) / 2


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):  # where the fraction would converge slowly, the other tail converges fast
        return 1 - _beta_share(b, a, 1 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return min(1.0, math.exp(front) / a * _beta_fraction(a, b, x))


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Lentz's method for the continued fraction of the incomplete beta function."""
    tiny = 1e-300
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 400):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d, tiny)
            c = _away(1 + term / c, tiny)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _away(value: float, tiny: float) -> float:
    """Not zero."""
    return value if abs(value) > tiny else tiny


def permutation_p(a: Sequence[float], b: Sequence[float]) -> tuple[float, int, bool] | None:
    """How often random permutations give means at least as far apart; their number; whether these are all.

    >>> permutation_p([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    (0.1, 20, True)
    """
    if not a or not b or len(a) + len(b) < 3:
        return None
    values = np.asarray([*a, *b], np.float64)
    if not np.isfinite(values).all():
        return None
    ways = math.comb(len(values), len(a))
    exact = ways <= MOST_SPLITS
    first = _all_deals(len(values), len(a)) if exact else _some_deals(len(values), len(a))
    total = float(values.sum())
    sums = np.where(first, values, 0.0).sum(axis=1)
    apart = np.abs((total - sums) / len(b) - sums / len(a))
    seen = abs(float(np.mean(b)) - float(np.mean(a)))
    hits = int((apart >= seen * (1 - 1e-12) - 1e-300).sum())
    return (hits / ways, ways, True) if exact else ((hits + 1) / (MOST_SPLITS + 1), MOST_SPLITS, False)


def _all_deals(total: int, chosen: int) -> npt.NDArray[np.bool_]:
    places = np.array(list(combinations(range(total), chosen)), dtype=np.intp).reshape(-1, chosen)
    mask = np.zeros((len(places), total), dtype=bool)
    np.put_along_axis(mask, places, True, axis=1)
    return mask


def _some_deals(total: int, chosen: int) -> npt.NDArray[np.bool_]:
    """Fixed random numbers, so that reopening a page shows the same result."""
    lots = np.random.default_rng(0).random((MOST_SPLITS, total))
    cut = np.partition(lots, chosen - 1, axis=1)[:, chosen - 1 : chosen]
    mask: npt.NDArray[np.bool_] = lots <= cut
    return mask


def bootstrap_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the difference of the means in 95 of 100 resamples of the runs; None with one run on a side."""
    if min(len(a), len(b)) < 2:
        return None
    rng = np.random.default_rng(0)
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    means = [side[rng.integers(0, len(side), (RESAMPLES, len(side)))].mean(axis=1) for side in (left, right)]
    low, high = np.quantile(means[1] - means[0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def hedges_g(a: Sequence[float], b: Sequence[float]) -> float | None:
    """The difference in units of the spread inside the groups, corrected for few runs; None without spread."""
    degrees = len(a) + len(b) - 2
    if min(len(a), len(b)) < 2:
        return None
    spread = ((len(a) - 1) * float(np.var(a, ddof=1)) + (len(b) - 1) * float(np.var(b, ddof=1))) / degrees
    if not spread > 0:
        return None
    return (float(np.mean(b)) - float(np.mean(a))) / math.sqrt(spread) * (1 - 3 / (4 * degrees - 1))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Each p-value corrected for all tests; None stays None and does not count.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    order = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, at) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        corrected[at] = highest
    return corrected
