"""Which span lies in which: parents of spans on the same lane, for a million of them at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.library import nest_compiled

Ints = npt.NDArray[Any]


def nest(lane: Ints, start: Ints, dur: Ints, rows: Ints | None = None) -> Ints:
    """For each span the position of the innermost one of its lane that holds it, or -1.

    `rows`: only these spans count; the others have and are none. Spans that cross (profilers round) belong to the
    one that began before them and is still open when they begin.

    >>> nest(np.array([0, 0, 0, 1]), np.array([0, 2, 3, 3]), np.array([10, 5, 1, 1])).tolist()
    [-1, 0, 1, -1]
    """
    compiled = nest_compiled(lane, start, dur, rows)
    if compiled is not None:
        return compiled
    if rows is not None:
        full = np.full(len(start), -1, np.int32)
        found = nest(lane[rows], start[rows], dur[rows])
        full[rows] = np.where(found >= 0, rows[found], -1)
        return full
    n = len(start)
    parent = np.full(n, -1, np.int32)
    if n == 0:
        return parent
    order = np.lexsort((-dur, start, lane))
    lane, start, end = lane[order], start[order], (start + dur)[order]
    # Spans that outlive a parent are cut at its end, so that spans that cross still make a tree.
    depth = _depths(lane, start, end)
    found = np.full(n, -1, np.int64)
    positions = np.arange(n)
    for level in range(1, int(depth.max()) + 1):
        here, above = positions[depth == level], positions[depth == level - 1]
        at = np.searchsorted(above, here) - 1
        found[here] = above[at]
    inside = found >= 0
    parent[order[inside]] = order[found[inside]]
    return parent


def _depths(lane: Ints, start: Ints, end: Ints) -> Ints:
    """How many spans are open when each begins. A plain stack; the only loop over spans, and it makes no objects."""
    depths = [0] * len(start)
    stack: list[int] = []
    last = -1
    for i, (on, begins, ends) in enumerate(zip(lane.tolist(), start.tolist(), end.tolist(), strict=True)):
        if on != last:
            stack.clear()
            last = on
        while stack and stack[-1] <= begins:
            stack.pop()
        depths[i] = len(stack)
        stack.append(min(ends, stack[-1]) if stack else ends)
    return np.array(depths)
