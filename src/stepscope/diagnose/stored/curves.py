"""What a curve did, in a few numbers that noise does not move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from stepscope.runs.points.series import Series

_WINDOWS = 10


@dataclass(frozen=True)
class Trend:
    """A series cut into tenths: the median of each, and how far points stray from them."""

    points: int
    """Finite ones."""
    medians: tuple[float, ...]
    steps: tuple[int, ...]
    """The last step of each tenth."""
    noise: float
    """The median distance of a point from the median of its tenth, as a standard deviation."""

    @property
    def first(self) -> float:
        return self.medians[0]

    @property
    def last(self) -> float:
        return self.medians[-1]

    @property
    def best(self) -> int:
        """The tenth with the lowest median."""
        return int(np.argmin(self.medians))

    @property
    def change(self) -> float:
        return self.last - self.first


def trend_of(series: Series, least: int = 20) -> Trend | None:
    """Its trend; None where there are fewer than `least` finite points."""
    keep = np.isfinite(series.values)
    values, steps = series.values[keep], series.steps[keep]
    if len(values) < max(least, _WINDOWS):
        return None
    parts: list[npt.NDArray[np.float64]] = np.array_split(values, _WINDOWS)
    ends = np.cumsum([len(part) for part in parts]) - 1
    medians = [float(np.median(part)) for part in parts]
    strays = np.concatenate([np.abs(part - middle) for part, middle in zip(parts, medians, strict=True)])
    return Trend(
        points=len(values),
        medians=tuple(medians),
        steps=tuple(int(steps[end]) for end in ends),
        noise=1.4826 * float(np.median(strays)),
    )
