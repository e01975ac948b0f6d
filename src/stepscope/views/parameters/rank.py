"""How a metric relates to one parameter: Spearman's rank correlation, with an interval from resampled runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
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
    of_y = ranks(y)
    if names > 2:
        own = _ratio(x.astype(np.int64), of_y, np.ones((1, count)), names)
        found = _ratio(x.astype(np.int64), of_y, weights, names)
    else:
        own = _correlation(ranks(x), of_y, np.ones((1, count)))
        found = _correlation(ranks(x), of_y, weights)
    found = found[np.isfinite(found)]  # a resample may contain a single value
    if not len(found):
        return None
    low, high = np.quantile(found, (0.025, 0.975)).tolist()
    return Relation(float(own[0]), min(low, float(own[0])), max(high, float(own[0])), count)


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
