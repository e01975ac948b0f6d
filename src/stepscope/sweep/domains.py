"""What one parameter may be: one of some values, a number in a range, a draw from a bell curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

DIGITS = 6
"""Of a number that was drawn: more say nothing, and these can be read and typed again."""
MOST_VALUES = 100_000
"""Values of one parameter that a grid may list."""


@dataclass(frozen=True)
class Choice:
    """One of these values, all as likely unless `weights` says otherwise. With one value: a constant."""

    values: tuple[Any, ...]
    weights: tuple[float, ...] | None = None

    def sample(self, rng: Random) -> Any:
        return rng.choices(self.values, self.weights)[0]

    def all_values(self) -> Sequence[Any] | None:
        return self.values

    def contains(self, value: Any) -> bool:
        return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in self.values)


@dataclass(frozen=True)
class Range:
    """A number from `low` to `high`, both included; evenly or evenly in the logarithm, in steps or not."""

    low: float
    high: float
    log: bool = False
    step: float | None = None
    whole: bool = False

    def sample(self, rng: Random) -> int | float:
        if self.log and self.whole:  # so that the ends are as likely as their neighbors
            drawn = math.exp(rng.uniform(math.log(self.low - 0.5), math.log(self.high + 0.5)))
        elif self.log:
            drawn = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        elif self.step is not None:
            return self._at(rng.randint(0, self._count() - 1))
        elif self.whole:
            return rng.randint(int(self.low), int(self.high))
        else:
            drawn = rng.uniform(self.low, self.high)
        if self.step is not None:
            return self._at(min(max(round((drawn - self.low) / self.step), 0), self._count() - 1))
        if self.whole:
            return min(max(round(drawn), int(self.low)), int(self.high))
        return min(max(float(f"{drawn:.{DIGITS}g}"), self.low), self.high)

    def _count(self) -> int:
        assert self.step is not None
        return int((self.high - self.low) / self.step + 1e-9) + 1

    def _at(self, place: int) -> int | float:
        assert self.step is not None
        value = self.low + place * self.step
        return round(value) if self.whole else float(f"{value:.12g}")  # 0.3, not 0.30000000000000004

    def all_values(self) -> Sequence[Any] | None:
        if self.step is None and not self.whole:
            return None
        step = self.step or 1
        count = int((self.high - self.low) / step + 1e-9) + 1
        if count > MOST_VALUES:
            return None
        if self.step is not None:
            return [self._at(place) for place in range(count)]
        return range(int(self.low), int(self.high) + 1)

    def contains(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high and (not self.whole or float(value).is_integer())


@dataclass(frozen=True)
class Bell:
    """A normal distribution; with `log`, of the logarithm."""

    mean: float
    deviation: float
    log: bool = False
    step: float | None = None

    def sample(self, rng: Random) -> float:
        drawn = rng.gauss(self.mean, self.deviation)
        return _stepped(math.exp(min(drawn, 700.0)) if self.log else drawn, self.step)

    def all_values(self) -> Sequence[Any] | None:
        return None

    def contains(self, value: Any) -> bool:
        return not isinstance(value, bool) and isinstance(value, int | float) and (not self.log or value >= 0)


@dataclass(frozen=True)
class Beta:
    """A beta distribution: between 0 and 1."""

    a: float
    b: float
    step: float | None = None

    def sample(self, rng: Random) -> float:
        return _stepped(rng.betavariate(self.a, self.b), self.step)

    def all_values(self) -> Sequence[Any] | None:
        return None

    def contains(self, value: Any) -> bool:
        return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= 1


Domain = Choice | Range | Bell | Beta


def _stepped(value: float, step: float | None) -> float:
    return float(f"{value:.{DIGITS}g}") if step is None else float(f"{round(value / step) * step:.12g}")
