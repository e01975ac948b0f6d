"""Histograms logged over time, rebinned to common edges so that they can be drawn as one image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepscope.errors import BadData, UsageError

Floats = npt.NDArray[np.float64]

PERCENTS = (0.0, 7.0, 16.0, 31.0, 50.0, 69.0, 84.0, 93.0, 100.0)
"""Percentiles for distributions over time: the median and one and one and a half standard deviations of a normal."""
_MOST_BINS = 1 << 20


@dataclass(frozen=True)
class Histogram:
    """Counts between edges: `counts[i]` values lie from `edges[i]` up to `edges[i + 1]`."""

    edges: Floats
    counts: Floats


@dataclass(frozen=True)
class Ridge:
    """Many histograms on common edges, one row of `counts` each, with their percentiles."""

    edges: Floats
    counts: Floats
    percentiles: Floats


def decode_histogram(data: bytes) -> Histogram:
    """Decode the bytes of a histogram: float64 edges (n + 1), then float64 counts (n)."""
    numbers = np.frombuffer(data[: len(data) // 8 * 8], dtype="<f8").astype(np.float64)
    bins = (len(numbers) - 1) // 2
    if len(data) % 8 or len(numbers) != 2 * bins + 1 or not 0 < bins <= _MOST_BINS:
        raise BadData(f"{len(data)} bytes are not a histogram; expected n + 1 edges and n counts of eight bytes each")
    edges, counts = numbers[: bins + 1], numbers[bins + 1 :]
    if not np.isfinite(edges).all() or bool((edges[1:] < edges[:-1]).any()):
        raise BadData("the edges of a histogram must be finite and increasing")
    if not np.isfinite(counts).all() or bool((counts < 0).any()):
        raise BadData("the counts of a histogram must be finite and non-negative")
    return Histogram(edges, counts)


def rebin(histogram: Histogram, edges: Floats, beyond: bool = True) -> Floats:
    """The counts between other edges, with each bin's content spread evenly. Content beyond the new edges goes
    into the outermost bins, unless `beyond` is False.

    >>> rebin(Histogram(np.array([0.0, 2.0]), np.array([4.0])), np.array([0.0, 1.0, 2.0]))
    array([2., 2.])
    """
    below = _below(histogram, edges)
    if beyond:
        below[0], below[-1] = 0.0, histogram.counts.sum()
    return np.diff(below)


def _below(histogram: Histogram, places: Floats) -> Floats:
    """The content below each position; a bin without width counts as below its own edge's right side."""
    edges, counts = histogram.edges, histogram.counts
    total = np.concatenate(([0.0], np.cumsum(counts)))
    at = np.clip(np.searchsorted(edges, places, side="right") - 1, 0, len(counts) - 1)
    left, right = edges[at], edges[at + 1]
    with np.errstate(all="ignore"):
        share = np.where(right > left, (places - left) / (right - left), 1.0)
    inside = total[at] + np.clip(share, 0.0, 1.0) * counts[at]
    return np.where(places < edges[0], 0.0, np.where(places >= edges[-1], total[-1], inside))


def common_edges(histograms: Sequence[Histogram], bins: int, tails: float = 0.0) -> Floats:
    """Even edges over the range of all histograms; empty bins at their ends do not count.

    With `tails`, up to that fraction of each may lie beyond the edges, so that a few outliers do not squeeze the rest.
    """
    if bins < 1:
        raise UsageError(f"bins must be 1 or more, not {bins}")
    if not 0 <= tails < 0.5:
        raise UsageError(f"tails must be a fraction from 0 to below 0.5, not {tails}")
    ends = (50 * tails, 100 - 50 * tails)
    filled = [percentiles(one, ends) for one in histograms if one.counts.any()]
    lows, highs = [low for low, _ in filled], [high for _, high in filled]
    low, high = (min(lows), max(highs)) if lows else (0.0, 1.0)
    if low == high:
        reach = abs(low) * 1e-3 or 0.5
        low, high = low - reach, high + reach
    share = np.linspace(0.0, 1.0, bins + 1)
    edges: Floats = low * (1 - share) + high * share  # no overflow, however far apart
    return edges


def percentiles(histogram: Histogram, percents: Sequence[float] = PERCENTS) -> Floats:
    """The positions of these percentiles; NaN for an empty histogram."""
    total = float(histogram.counts.sum())
    if total <= 0:
        return np.full(len(percents), np.nan)
    filled = histogram.counts > 0
    below = np.concatenate(([0.0], np.cumsum(histogram.counts[filled])))
    left, right = histogram.edges[:-1][filled], histogram.edges[1:][filled]
    wanted = np.asarray(percents, dtype=np.float64) / 100 * total
    at = np.clip(np.searchsorted(below, wanted, side="left") - 1, 0, len(left) - 1)
    share = np.clip((wanted - below[at]) / (below[at + 1] - below[at]), 0.0, 1.0)
    places: Floats = left[at] * (1 - share) + right[at] * share
    return places


def ridge(histograms: Sequence[Histogram], bins: int = 48, tails: float = 0.0) -> Ridge:
    """Histograms of one key over time, ready to draw behind each other. Content cut off by `tails` is not counted."""
    edges = common_edges(histograms, bins, tails)
    counts = np.array([rebin(one, edges, beyond=tails == 0) for one in histograms]).reshape(-1, bins)
    lines = np.array([percentiles(one) for one in histograms]).reshape(-1, len(PERCENTS))
    return Ridge(edges, counts, lines)
