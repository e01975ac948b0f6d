"""Whether a difference is more than the steps differ among themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Numbers = npt.NDArray[Any]

# Student's t, two-sided 99.9%: for 1, 2, 3 ... degrees of freedom. A diff compares hundreds of names; at 99% some
# would always stand out by chance.
_T = [636.62, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 4.437, 4.318, 4.221, 4.140, 4.073]
_Z = 3.2905


@dataclass(frozen=True)
class Change:
    """A quantity of a step in two profiles."""

    a: float
    b: float
    noise: float | None
    """The change is known to this, at 99.9%; None with too few steps to say."""

    @property
    def by(self) -> float:
        return self.b - self.a

    @property
    def is_clear(self) -> bool:
        """More than chance: a change that would come by itself less than once in a thousand comparisons."""
        return self.noise is not None and abs(self.by) > self.noise


def t_quantile(freedom: float) -> float:
    """How many standard errors hold 99.9% of the chance.

    >>> t_quantile(1), t_quantile(10), round(t_quantile(30), 2), round(t_quantile(1e9), 2)
    (636.62, 4.587, 3.64, 3.29)
    """
    if freedom <= len(_T):
        return _T[max(int(freedom), 1) - 1]  # rounded down: rather too careful
    z, v = _Z, freedom
    return z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v * v)


def changes(a: Numbers, b: Numbers) -> list[Change]:
    """Columns of two tables (a row a step, a column a quantity), compared by Welch's test.

    >>> import numpy as np
    >>> [c.is_clear for c in changes(np.array([[9.0], [10], [11], [10]]), np.array([[19.0], [20], [21], [20]]))]
    [True]
    """
    found = []
    for left, right in zip(a.T, b.T, strict=True):
        found.append(Change(float(left.mean()), float(right.mean()), _noise(left, right)))
    return found


def _noise(left: Numbers, right: Numbers) -> float | None:
    if len(left) < 2 or len(right) < 2:
        return None
    first, second = float(left.var(ddof=1)) / len(left), float(right.var(ddof=1)) / len(right)
    both = first + second
    if both == 0:
        return 0.0
    freedom = both**2 / (first**2 / (len(left) - 1) + second**2 / (len(right) - 1))
    return t_quantile(freedom) * math.sqrt(both)
