"""Has a run diverged? From the last readings of a loss: not finite, or far above where it began, for long enough."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FIRST = 5
"""Readings that say where a loss began."""


def diverged(
    values: npt.NDArray[np.float64], readings: int, explodes: float, *, falls: bool = True, must_have_been: bool = False
) -> str | None:
    """Why these readings mean that the run is lost, or None.

    `falls`: small is good, so that growing is a sign. `must_have_been`: only a series that once had a number counts
    (a script may log NaN for what it has not measured yet).

    >>> diverged(np.array([0.9, 0.8, np.nan, np.nan, np.nan]), 3, 100.0)
    'NaN 3 times in a row'
    >>> diverged(np.array([0.9, 0.8, 0.7, 0.6, 0.5, 400.0, 9e3, 2e5]), 3, 100.0)
    'from 0.9 to 2e+05, above 100 times its first readings 3 times in a row'
    >>> diverged(np.array([np.nan, np.nan, 0.9, np.nan, np.nan, 0.8, np.nan, np.nan, np.nan]), 3, 100.0) is None
    True
    """
    if readings <= 0 or len(values) < readings:
        return None
    finite = np.isfinite(values)
    streak = _last_streak(finite)
    if streak:
        if must_have_been and not finite.any():
            return None
        # A script that logs NaN between its validations recovers each time: only a longer streak means something.
        usual = _longest_recovered(finite)
        if streak < max(readings, 2 * usual + 1 if usual else 0):
            return None
        return f"{_kind(values[-1])} {streak} times in a row"
    if not falls:
        return None
    known = values[finite]
    if len(known) < FIRST + readings:
        return None
    began = float(np.abs(known[:FIRST]).max())
    if began > 0 and bool((known[-readings:] > explodes * began).all()):
        return (
            f"from {known[0]:.4g} to {known[-1]:.4g}, above {explodes:g} times its first readings "
            f"{readings} times in a row"
        )
    return None


def _last_streak(finite: npt.NDArray[np.bool_]) -> int:
    places = np.flatnonzero(finite)
    return len(finite) - (int(places[-1]) + 1 if len(places) else 0)


def _longest_recovered(finite: npt.NDArray[np.bool_]) -> int:
    """The longest stretch without a number after which there was one again."""
    places = np.flatnonzero(finite)
    if not len(places):
        return 0
    gaps = np.diff(np.concatenate(([-1], places))) - 1
    return int(gaps.max())


def _kind(value: float) -> str:
    return "NaN" if np.isnan(value) else "Inf" if value > 0 else "-Inf"
