"""Rows by what they have in common: sums and counts of a group, for all groups at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.library import distinct

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class Groups:
    number: Values
    """Of each row, its group."""
    first: Values
    """Of each group, the place of its first row."""

    def __len__(self) -> int:
        return len(self.first)

    @property
    def counts(self) -> Values:
        return np.bincount(self.number, minlength=len(self))

    def sums(self, values: Values) -> Values:
        """Of each group the sum; whole numbers stay whole (and are exact up to 2**53)."""
        found = np.bincount(self.number, values, len(self))
        return found.astype(np.int64) if values.dtype.kind in "iub" else found

    def least(self, values: Values) -> Values:
        found = np.full(len(self), np.iinfo(np.int64).max)
        np.minimum.at(found, self.number, values)
        return found

    def most(self, values: Values) -> Values:
        found = np.full(len(self), np.iinfo(np.int64).min)
        np.maximum.at(found, self.number, values)
        return found

    def leading(self, values: Values, weights: Values) -> Values:
        """Of each group the value with the largest weight in it; -1 means none and leads only if alone."""
        pairs = group(self.number, values)
        weight = pairs.sums(np.where(values >= 0, weights.astype(float) + 1e-9, 0.0))
        order = np.argsort(weight, kind="stable")
        found = np.full(len(self), -1, np.int64)
        found[self.number[pairs.first[order]]] = values[pairs.first[order]]  # the last one written is the largest
        return found


def index_of(codes: Values, size: int) -> Groups:
    """Groups of small whole numbers (indexes of names): found by counting, without sorting.

    >>> index_of(np.array([5, 2, 5]), 9).counts.tolist()
    [1, 2]
    """
    first = np.full(size, -1, np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.flatnonzero(first >= 0)
    number = np.zeros(size, np.int64)
    number[used] = np.arange(len(used))
    return Groups(number[codes], first[used])


def group(*codes: Values) -> Groups:
    """Groups of equal rows of several columns of whole numbers (each from -1 up).

    >>> found = group(np.array([1, 0, 1]), np.array([-1, 3, -1]))
    >>> found.counts.tolist(), found.number.tolist()
    ([1, 2], [1, 0, 1])
    """
    combined = np.zeros(len(codes[0]), np.int64)
    size = 1
    for one in codes:
        width = int(one.max()) + 2 if len(one) else 1
        if size > 2**62 // max(width, 1):
            _, combined = np.unique(combined, return_inverse=True)
            size = int(combined.max()) + 1
        combined = combined * width + (one.astype(np.int64) + 1)
        size *= width
    if size <= 4 * len(combined) + 1024:
        return index_of(combined, size)
    number, first = distinct(combined)
    return Groups(number, first)
