"""Exact arithmetic with stretches of time: unions, and how much of them lies in other stretches.

All with whole nanoseconds over columns, so that parts of a step sum to the step to the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]


@dataclass(frozen=True)
class Stretches:
    """Stretches of time that do not touch, in order."""

    begin: Ints
    end: Ints

    @classmethod
    def union(cls, begin: Ints, end: Ints) -> Stretches:
        """All the time that at least one of these covers.

        >>> Stretches.union(np.array([5, 0, 1]), np.array([6, 2, 3]))
        Stretches(begin=array([0, 5]), end=array([3, 6]))
        """
        keep = end > begin
        begin, end = begin[keep], end[keep]
        if not len(begin):
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))
        if (begin[1:] < begin[:-1]).any():
            order = np.argsort(begin, kind="stable")  # a few sorted runs one after the other: quickly merged
            begin, end = begin[order], end[order]
        reach = np.maximum.accumulate(end)
        fresh = np.ones(len(begin), bool)
        fresh[1:] = begin[1:] > reach[:-1]
        last = np.append(np.flatnonzero(fresh)[1:] - 1, len(begin) - 1)
        return cls(begin[fresh].astype(np.int64), reach[last].astype(np.int64))

    def __or__(self, other: Stretches) -> Stretches:
        if not len(other.begin):
            return self
        if not len(self.begin):
            return other
        return Stretches.union(np.concatenate([self.begin, other.begin]), np.concatenate([self.end, other.end]))

    def __and__(self, other: Stretches) -> Stretches:
        """The time that both cover.

        >>> Stretches(np.array([0, 5]), np.array([4, 9])) & Stretches(np.array([3]), np.array([7]))
        Stretches(begin=array([3, 5]), end=array([4, 7]))
        """
        begin = np.union1d(self.begin[other.holds(self.begin) >= 0], other.begin[self.holds(other.begin) >= 0])
        end = np.union1d(self.end[other.holds(self.end - 1) >= 0], other.end[self.holds(other.end - 1) >= 0])
        return Stretches(begin, end)

    @property
    def total(self) -> int:
        return int((self.end - self.begin).sum())

    def before(self, at: Ints) -> Ints:
        """How much of these lies before each moment.

        >>> Stretches.union(np.array([0, 10]), np.array([4, 12])).before(np.array([2, 5, 11, 99])).tolist()
        [2, 4, 5, 6]
        """
        at = np.asarray(at, np.int64)
        if not len(self.begin):
            return np.zeros(len(at), np.int64)
        sums = np.concatenate([[0], np.cumsum(self.end - self.begin)])
        which = np.searchsorted(self.begin, at, side="right")
        inside = np.maximum(which - 1, 0)
        cut = np.maximum(self.end[inside] - at, 0)
        return np.asarray(np.where(which > 0, sums[which] - cut, 0))

    def within(self, begin: Ints, end: Ints) -> Ints:
        """How much of these lies in each of the spans `begin` to `end`."""
        return self.before(end) - self.before(begin)

    def gaps(self, begin: int, end: int) -> Stretches:
        """What of `begin` to `end` these leave free.

        >>> Stretches.union(np.array([2]), np.array([3])).gaps(0, 9)
        Stretches(begin=array([0, 3]), end=array([2, 9]))
        """
        froms = np.concatenate([[begin], np.clip(self.end, begin, end)])
        tos = np.concatenate([np.clip(self.begin, begin, end), [end]])
        keep = tos > froms
        return Stretches(froms[keep], tos[keep])

    def holds(self, at: Ints) -> Ints:
        """Whether each moment lies in one of these: the number of it, or -1."""
        if not len(self.begin):
            return np.full(len(at), -1, np.int64)
        which = np.searchsorted(self.begin, at, side="right") - 1
        inside = (which >= 0) & (np.asarray(at) < self.end[np.maximum(which, 0)])
        return np.where(inside, which, -1)


def without_overlap(begin: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Spans in order of their beginning, each cut to what no earlier one covers; and where each came from.

    >>> [column.tolist() for column in without_overlap(np.array([4, 0]), np.array([9, 6]))]
    [[0, 6], [6, 9], [1, 0]]
    """
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    if not len(begin):
        return begin, end, order
    reach = np.maximum.accumulate(end)
    begin = np.concatenate([begin[:1], np.maximum(begin[1:], reach[:-1])])
    keep = end > begin
    return begin[keep], end[keep], order[keep]
