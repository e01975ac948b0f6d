"""Bins as other tools count them: some have no width (all values equal), some no finite end."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stepscope.errors import UsageError


def wide_bins(edges: Sequence[float], counts: Sequence[float]) -> tuple[list[float], list[float]]:
    """Increasing edges and their counts: bins without a width are merged into a neighbor.

    >>> wide_bins([0.0, 1.0, 1.0, 2.0], [1, 5, 2])
    ([0.0, 1.0, 2.0], [1.0, 7.0])
    >>> wide_bins([3.0, 3.0, 3.0], [0, 4])
    ([2.9985, 3.0015], [4.0])
    """
    if len(edges) != len(counts) + 1 or not counts:
        raise UsageError(
            f"{len(counts)} counts need {len(counts) + 1} edges, but there are {len(edges)}; give one "
            "more edge than counts"
        )
    if not all(math.isfinite(edge) for edge in (edges[0], edges[-1])):
        edges, counts = _finite(edges, counts)
    kept, numbers, waiting = [float(edges[0])], [], 0.0
    for edge, count in zip(edges[1:], counts, strict=True):
        waiting += float(count)
        if edge > kept[-1]:
            kept.append(float(edge))
            numbers.append(waiting)
            waiting = 0.0
    if not numbers:  # one value, many times
        half = abs(kept[0]) * 5e-4 or 0.5
        return [kept[0] - half, kept[0] + half], [waiting]
    numbers[-1] += waiting
    return kept, numbers


def _finite(edges: Sequence[float], counts: Sequence[float]) -> tuple[list[float], list[float]]:
    """Without unbounded outer bins; their counts are added to their neighbors."""
    inner = [edge for edge in edges if math.isfinite(edge)]
    if not inner:
        raise UsageError("edges of a histogram must be finite")
    first = next(at for at, edge in enumerate(edges) if math.isfinite(edge))
    numbers = [float(count) for count in counts[first : first + len(inner) - 1]]
    below, above = sum(counts[:first]), sum(counts[first + len(inner) - 1 :])
    if not numbers:
        return [inner[0], inner[0]], [below + above]
    numbers[0] += below
    numbers[-1] += above
    return inner, numbers
