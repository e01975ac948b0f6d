"""Questions about a forest of events that is kept as a column of parents, answered for all events at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.library import depths_compiled, nearest_compiled

Ints = npt.NDArray[Any]


def nearest(parent: Ints, wanted: Ints) -> Ints:
    """For each event: itself if it is wanted, else its nearest ancestor that is; -1 where there is none.

    >>> nearest(np.array([-1, 0, 1, 2, -1]), np.array([False, True, False, False, False])).tolist()
    [-1, 1, 1, 1, -1]
    """
    compiled = nearest_compiled(parent, wanted)
    if compiled is not None:
        return compiled
    n = len(parent)
    jump = np.empty(n + 1, np.int32)  # the last place means "none" and leads to itself
    jump[:n] = np.where(wanted, np.arange(n, dtype=np.int32), np.where(parent >= 0, parent, n))
    jump[n] = n
    while True:  # each round doubles how far every event has looked
        further = jump[jump]
        if np.array_equal(further, jump):
            break
        jump = further
    return np.where(jump[:n] == n, -1, jump[:n])


def nearest_above(parent: Ints, wanted: Ints) -> Ints:
    """For each event its nearest ancestor that is wanted, never itself; -1 where there is none.

    >>> nearest_above(np.array([-1, 0, 1, 2, -1]), np.array([False, True, True, False, False])).tolist()
    [-1, -1, 1, 2, -1]
    """
    compiled = nearest_compiled(parent, wanted, above=True)
    if compiled is not None:
        return compiled
    found = nearest(parent, wanted)
    return np.where(parent >= 0, found[parent], -1)


def nearest_of(parent: Ints, wanted: Ints, rows: Ints) -> Ints:
    """The same for some events only; -1 among the rows stays -1.

    >>> nearest_of(np.array([-1, 0, 1]), np.array([True, False, False]), np.array([2, -1])).tolist()
    [0, -1]
    """
    found: Ints = rows.copy()
    climbing = np.flatnonzero(found >= 0)
    climbing = climbing[~wanted[found[climbing]]]
    while len(climbing):
        found[climbing] = parent[found[climbing]]
        here = found[climbing]
        climbing = climbing[(here >= 0) & ~wanted[here]]
    return found


def next_above(parent: Ints, rows: Ints, wanted: Ints) -> Ints:
    """For these few events the nearest ancestor that is wanted, not themselves; -1 where there is none.

    >>> next_above(np.array([-1, 0, 1]), np.array([1, 2]), np.array([True, True, False])).tolist()
    [0, 1]
    """
    above = parent[rows]
    found = np.full(len(rows), -1, np.int64)
    at = np.flatnonzero(above >= 0)
    while len(at):
        hit = wanted[above[at]]
        found[at[hit]] = above[at[hit]]
        at = at[~hit]
        above[at] = parent[above[at]]
        at = at[above[at] >= 0]
    return found


def depths(parent: Ints) -> Ints:
    """How many ancestors each event has.

    >>> depths(np.array([-1, 0, 1, 0])).tolist()
    [0, 1, 2, 1]
    """
    compiled = depths_compiled(parent)
    if compiled is not None:
        return compiled
    n = len(parent)
    jump = np.empty(n + 1, np.int32)
    jump[:n] = np.where(parent >= 0, parent, n)
    jump[n] = n
    count = np.zeros(n + 1, np.int32)
    count[:n] = parent >= 0
    while (jump[:n] < n).any():
        count += count[jump]
        jump = jump[jump]
    return count[:n]


def around(parent: Ints, lane: Ints, start: Ints, end: Ints, spans: Ints, instants: Ints) -> Ints:
    """For each instant the innermost of `spans` on its lane that was open then, or -1."""
    if not len(spans) or not len(instants):
        return np.full(len(instants), -1, np.int32)
    found = np.full(len(instants), -1, np.int32)
    for one in np.unique(lane[instants]).tolist():
        here, mine = lane[instants] == one, _in_order(spans[lane[spans] == one], start, end)
        at = np.searchsorted(start[mine], start[instants[here]], side="right") - 1
        if len(mine):
            found[here] = np.where(at >= 0, mine[np.maximum(at, 0)], -1)
    when = start[instants]
    while True:  # those that have ended by then hand over to the one around them
        over = (found >= 0) & (end[found] < when)
        if not over.any():
            return found
        found[over] = parent[found[over]]


def _in_order(spans: Ints, start: Ints, end: Ints) -> Ints:
    """By their beginning; of those that begin together, the outer first. Traces are nearly sorted, and few do."""
    spans = spans[np.argsort(start[spans], kind="stable")]
    tied = np.zeros(len(spans), bool)
    tied[1:] = start[spans[1:]] == start[spans[:-1]]
    tied[:-1] |= tied[1:]
    together = np.flatnonzero(tied)
    if len(together):
        some = spans[together]
        spans[together] = some[np.lexsort((-end[some], start[some]))]
    return spans
