"""How a metric relates to one parameter: Spearman's rank correlation, with an interval from resampled runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepscope.views.compare.statistics import f_p

Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
SHUFFLES = 10_000
FEW = 60
"""With fewer runs chance is found by shuffling them, with more by the F test of their ranks."""
_MOST_CELLS = 1_000_000
"""Maximum size of the resampling table: with very many runs fewer resamples do, as the interval is narrow anyway."""
_SEED = 20261115


@dataclass(frozen=True)
class Relation:
    """A correlation with its 95% interval. For categories it has no sign: it is the root of the share of the rank
    variance between them, less what chance alone would give (epsilon squared)."""

    value: float
    low: float
    high: float
    runs: int
    chance: float
    """How often the same values in a random order go together as much or more."""


def ranks(values: Floats) -> Floats:
    """Ranks from 1 up; equal values share their mean rank.

    >>> ranks(np.array([10.0, 30.0, 20.0, 30.0]))
    array([1. , 3.5, 2. , 3.5])
    """
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts).astype(np.float64)
    places: Floats = (last - (counts - 1) / 2)[back]
    return places


def draws(count: int) -> Floats:
    """How often each run is drawn, one row per resample: computed once for all parameters."""
    resamples = int(max(200, min(RESAMPLES, _MOST_CELLS // max(1, count))))
    rng = np.random.default_rng(_SEED)
    return rng.multinomial(count, np.full(count, 1 / count), resamples).astype(np.float64)


def relation(x: Floats, y: Floats, weights: Floats, names: int = 0) -> Relation | None:
    """The rank correlation of x and y, which are finite; with `names`, x has indices into a list of that length.

    `weights` are the columns of `draws` for these runs. None if either is constant or there are too few runs.
    """
    count = len(x)
    if count < 3 or np.ptp(y) == 0 or np.ptp(x) == 0:
        return None
    of_y, everyone = ranks(y), np.ones((1, count))
    if names > 2:
        places, own_place = np.unique(x, return_inverse=True)
        own = _ratio(own_place, of_y, everyone, len(places))
        found = _ratio(own_place, of_y, weights, len(places))
        groups = len(places)
    else:
        of_x, groups = ranks(x), 2
        own, found = _correlation(of_x, of_y, everyone), _correlation(of_x, of_y, weights)
    found = found[np.isfinite(found)]  # a resample may contain a single value
    if not len(found):
        return None
    value = float(own[0])
    low, high = np.quantile(found, (0.025, 0.975)).tolist()
    if count >= FEW:
        chance = _f_test(value, count, groups, adjusted=names > 2)
    else:
        design = np.eye(groups)[own_place] if names > 2 else (of_x - of_x.mean())[:, None]
        chance = _shuffled(design, of_y - of_y.mean())
    return Relation(value, min(low, value), max(high, value), count, chance)


def _f_test(value: float, count: int, groups: int, *, adjusted: bool) -> float:
    """The probability that chance explains as much of the ranks; `adjusted` if `value` is already free of chance."""
    df1, df2 = groups - 1, count - groups
    if df2 < 1:
        return 1.0
    rest = (1 - value**2) * (df2 / (count - 1) if adjusted else 1.0)
    return f_p((1 - rest) / df1 / (rest / df2), df1, df2) if rest > 1e-12 else 0.0


def _shuffled(design: Floats, y: Floats) -> float:
    """How often `y` in another order is explained as much by the columns of `design`, which are orthogonal."""

    def explained(some: Floats) -> Floats:
        parts: Floats = (some @ design) ** 2 @ (1 / (design**2).sum(axis=0))
        return parts

    own = float(explained(y[None])[0])
    orders = np.random.default_rng(_SEED).permuted(np.tile(y, (SHUFFLES, 1)), axis=1)
    as_much = int((explained(orders) >= own * (1 - 1e-9)).sum())
    return (1 + as_much) / (1 + SHUFFLES)


def _correlation(x: Floats, y: Floats, weights: Floats) -> Floats:
    """The weighted correlation for each row of weights, which count how often a run was drawn."""
    x, y = x - x.mean(), y - y.mean()  # no digits are lost to large means
    total = np.maximum(weights.sum(axis=1), 1)
    mean_x, mean_y = weights @ x / total, weights @ y / total
    together = weights @ (x * y) / total - mean_x * mean_y
    apart = (weights @ (x * x) / total - mean_x**2) * (weights @ (y * y) / total - mean_y**2)
    with np.errstate(all="ignore"):
        found: Floats = np.where(apart > 1e-12, together / np.sqrt(np.maximum(apart, 1e-300)), np.nan)
    return np.clip(found, -1, 1)


def _ratio(places: npt.NDArray[np.int64], y: Floats, weights: Floats, names: int) -> Floats:
    y = y - y.mean()
    total = np.maximum(weights.sum(axis=1), 1)
    mean = weights @ y / total
    spread = weights @ (y * y) - total * mean**2
    between, groups = np.zeros(len(weights)), np.zeros(len(weights))
    for place in range(names):
        members = places == place
        size = weights[:, members].sum(axis=1)
        sums = weights[:, members] @ y[members]
        between += np.where(size > 0, sums**2 / np.maximum(size, 1), 0.0)
        groups += size > 0
    inside = spread - (between - total * mean**2)
    with np.errstate(all="ignore"):
        share = 1 - (inside / np.maximum(total - groups, 1)) / (np.maximum(spread, 1e-300) / np.maximum(total - 1, 1))
    found: Floats = np.where(spread > 1e-9, np.sqrt(np.clip(share, 0, 1)), np.nan)
    return found
