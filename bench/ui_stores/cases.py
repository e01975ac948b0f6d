"""What is looked at, the same for every tool. Values come from a formula, so no tool has luckier data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

__all__ = ["CASES", "Case", "value"]


@dataclass(frozen=True)
class Case:
    """Some runs of one size."""

    name: str
    runs: int
    metrics: int
    points: int
    title: str

    def smaller(self, points: int) -> Case:
        """The same with fewer points a series, for a store that cannot hold so many in a sensible time."""
        return replace(self, points=min(self.points, points))

    def metric(self, at: int) -> str:
        return f"{('train', 'val', 'grad', 'weight', 'lr')[at % 5]}/m{at:02d}"


CASES = {
    "long": Case("long", 1, 1, 1_000_000, "1 run x 1 metric x 1 M points"),
    "wide": Case("wide", 100, 50, 10_000, "100 runs x 50 metrics x 10 k points"),
    "many": Case("many", 2_000, 3, 20, "2,000 runs in the table"),
}


def value(run: int, metric: int, step: int, points: int) -> float:
    """A falling curve with a ripple."""
    t = step / points
    return (
        (1 + metric % 7) * math.exp(-4 * t)
        + 0.1 * math.sin(40 * t + run)
        + 0.02 * ((step * 2_654_435_761) % 1000) / 1000
    )
