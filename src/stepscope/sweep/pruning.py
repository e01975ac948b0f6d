"""Stopping runs that fall behind the others: median and asha here, Optuna's pruners in `optuna_pruner.py`.

A pruner is shown each run's metric as it grows, and says why one should stop. It compares runs at the same step, by
the best they had reached until then, so that one bad reading ends nothing.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from stepscope.sweep.early_stop import OURS, EarlyStop

Steps = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Pruner(Protocol):
    def seen(self, number: int, steps: Steps, values: Floats) -> str | None:
        """Take in a run's metric so far; why it should be stopped now, or None."""

    def ended(self, number: int, was_pruned: bool) -> None:
        """The run is over."""


def make_pruner(how: EarlyStop, goal: Literal["min", "max"]) -> Pruner | None:
    if how.pruner == "none":
        return None
    if how.pruner in OURS:
        return Ours(how, goal)
    from stepscope.sweep.optuna_pruner import OptunaPruner

    return OptunaPruner(how, goal)


class Curve:
    """The best of a run by step; small is good."""

    def __init__(self, steps: Steps, values: Floats, sign: float, by_readings: bool) -> None:
        known = np.isfinite(values)
        self.at: npt.NDArray[np.int64] = np.arange(1, len(values) + 1)[known] if by_readings else steps[known]
        self.best: Floats = np.minimum.accumulate(sign * values[known]) if known.any() else np.empty(0)

    @property
    def last(self) -> int:
        return int(self.at[-1]) if len(self.at) else -1

    def until(self, step: int) -> float | None:
        """The best up to this step; None if it has nothing from there."""
        place = int(np.searchsorted(self.at, step, side="right")) - 1
        return float(self.best[place]) if place >= 0 else None


class Ours:
    """Median and asha."""

    def __init__(self, how: EarlyStop, goal: Literal["min", "max"]) -> None:
        self._how = how
        self._sign = 1.0 if goal == "min" else -1.0
        self._curves: dict[int, Curve] = {}
        self._rung: dict[int, int] = {}

    def seen(self, number: int, steps: Steps, values: Floats) -> str | None:
        curve = self._curves[number] = Curve(steps, values, self._sign, self._how.by == "readings")
        if curve.last < max(self._how.after_steps, 0) or not len(curve.best):
            return None
        return self._median(number, curve) if self._how.pruner == "median" else self._asha(number, curve)

    def ended(self, number: int, was_pruned: bool) -> None:
        self._rung.pop(number, None)

    def _others(self, number: int, step: int) -> list[float]:
        """What the other runs had at best by this step, of those that have got so far."""
        found = [curve.until(step) for one, curve in self._curves.items() if one != number and curve.last >= step]
        return [value for value in found if value is not None]

    def _median(self, number: int, curve: Curve) -> str | None:
        others = self._others(number, curve.last)
        if len(others) < self._how.after_runs or len(curve.best) < self._how.after_readings:
            return None
        middle, own = float(np.median(others)), float(curve.best[-1])
        if own <= middle:
            return None
        best, limit = self._sign * own, self._sign * middle
        return f"{best:.4g} by {self._unit} {curve.last}; the median of {len(others)} others is {limit:.4g}"

    def _asha(self, number: int, curve: Curve) -> str | None:
        """At each rung that was passed since the last look: is it among the best of those that came so far?"""
        eta, rung = self._how.eta, self._rung.get(number, self._how.min_steps)
        while rung <= curve.last:
            own, others = curve.until(rung), self._others(number, rung)
            self._rung[number] = rung * eta
            if own is not None and len(others) + 1 >= eta:
                better = sum(other < own for other in others)
                kept = max((len(others) + 1) // eta, 1)
                if better >= kept:
                    place = f"place {better + 1} of {len(others) + 1}, and the best {kept} go on"
                    return f"{self._sign * own:.4g} by {self._unit} {rung}; {place}"
            rung *= eta
        return None

    @property
    def _unit(self) -> str:
        return "reading" if self._how.by == "readings" else "step"
