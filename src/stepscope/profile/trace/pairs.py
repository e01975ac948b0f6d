"""Events that a trace tells in two halves (B and E) as one span each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stepscope.profile.trace.events import Events, Ints, Sparse


def paired(events: Events) -> Events:
    """Every B with its E as one X; the E's arguments go to it. A B without an E stays, with dur -1; so does an E."""
    begin_of = _matches(events)
    ends = np.flatnonzero(begin_of >= 0)
    if not len(ends):
        return events
    begins = begin_of[ends]
    dur, ph = events.dur.copy(), events.ph.copy()
    dur[begins] = np.maximum(events.start[ends] - events.start[begins], 0)
    ph[begins] = ord("X")
    keep = np.ones(len(events), bool)
    keep[ends] = False
    renumbered = np.cumsum(keep) - 1
    owner = np.arange(len(events))
    owner[ends] = begins
    columns = {name: getattr(events, name)[keep] for name in ("start", "cat", "name", "lane")}
    args = {key: _moved(column, owner, renumbered) for key, column in events.args.items()}
    return replace(events, **columns, dur=dur[keep], ph=ph[keep], args=args)


def _matches(events: Events) -> Ints:
    """For each E the row of its B: the last one of its lane that is open. Else -1."""
    found = np.full(len(events), -1, np.int64)
    halves = np.flatnonzero((events.ph == ord("B")) | (events.ph == ord("E")))
    if not len(halves):
        return found
    halves = halves[np.argsort(events.start[halves], kind="stable")]
    is_begin = (events.ph[halves] == ord("B")).tolist()
    open_rows: dict[int, list[int]] = {}
    for row, begins, lane in zip(halves.tolist(), is_begin, events.lane[halves].tolist(), strict=True):
        stack = open_rows.setdefault(lane, [])
        if begins:
            stack.append(row)
        elif stack:
            found[row] = stack.pop()
    return found


def _moved(column: Sparse, owner: Ints, renumbered: Ints) -> Sparse:
    """The column with the rows of E at their B; a B's own value comes first."""
    rows = owner[column.rows]
    order = np.lexsort((column.rows, rows))
    rows, values = renumbered[rows[order]], column.values[order]
    first = np.ones(len(rows), bool)
    first[1:] = rows[1:] != rows[:-1]
    return Sparse(rows[first].astype(np.uint32), values[first], column.kind)
