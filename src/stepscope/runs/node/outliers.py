"""Which rank of a node stands out: far from the others in some series, look after look, or not finite alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stepscope.runs.points.rank_cells import RankPoints

_LOOKS = 3
"""Consecutive looks in which a rank must be far from the others."""
_FEWEST = 3
"""Of fewer ranks nobody can say which is the odd one."""
_SPREADS, _SHARE = 6.0, 0.1
"""Far from the median of the others: this many of their median deviations, and this fraction of it."""


class Outliers:
    """Finds outliers among the new points of all ranks of a node, poll by poll."""

    def __init__(self) -> None:
        self._far: dict[tuple[str, int], int] = {}
        self.found: list[int] = []
        """In the order they were found."""

    def look(self, fresh: Mapping[str, Sequence[RankPoints]], most: int) -> list[int]:
        """The ranks that stand out by now, `most` at most."""
        for name, points in fresh.items():
            means = _means(points)
            if not name.startswith("system/") and len(means) >= _FEWEST:
                self._judge(name, means)
        return self.found[:most]

    def _judge(self, name: str, means: dict[int, float]) -> None:
        for rank, mean in means.items():
            others = np.array([value for one, value in means.items() if one != rank])
            if not np.isfinite(others).all():
                continue
            middle = float(np.median(others))
            spread = float(np.median(np.abs(others - middle)))
            is_far = not abs(mean - middle) <= max(_SPREADS * spread, _SHARE * abs(middle))
            count = self._far[name, rank] = self._far.get((name, rank), 0) + 1 if is_far else 0
            if (count >= _LOOKS or not np.isfinite(mean)) and rank not in self.found:
                self.found.append(rank)


def _means(points: Sequence[RankPoints]) -> dict[int, float]:
    """The mean of each rank; not finite where one of its points is not."""
    totals: dict[int, list[float]] = {}
    for one in points:
        totals.setdefault(one.rank, []).extend(one.values.tolist())
    with np.errstate(invalid="ignore"):
        return {rank: float(np.mean(values)) for rank, values in totals.items()}
