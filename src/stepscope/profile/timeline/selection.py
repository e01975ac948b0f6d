"""What happened in a stretch of time: per name how often and how long, and how busy each lane was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.profile.timeline.lines import Lines
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

KINDS = len(Kind)


class NameShare(msgspec.Struct):
    """All events of one name and kind inside the selection; times are those inside, not those of the whole events."""

    name: str
    kind: str
    count: int
    total_ns: int
    """Counted once where an event of the same name is around it."""
    self_ns: int
    """Without the time of the events inside them."""
    longest_ns: int
    longest_event: int


class LaneShare(msgspec.Struct):
    lane: int
    busy_ns: int
    events: int


class Selection(msgspec.Struct):
    begin_ns: float
    end_ns: float
    events: int
    names: list[NameShare]
    """The one with the most own time first."""
    omitted: int
    """How many further names there are."""
    lanes: list[LaneShare]


def select(
    trace: Trace, lines: Lines, begin: int, end: int, lanes: Sequence[int] | None = None, most: int = 1_000
) -> Selection:
    """Statistics of the events of some lanes (None: all) between two times of the axis."""
    wanted = np.arange(len(lines.lane)) if lanes is None else np.flatnonzero(np.isin(lines.lane, list(lanes)))
    low, high = lines.around(wanted, np.full(len(wanted), begin), np.full(len(wanted), end))
    sizes = np.maximum(high - low, 0)
    ends = np.cumsum(sizes)
    at = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes - low, sizes)
    start = lines.start[at]
    inside = np.minimum(start + lines.dur[at], end) - np.maximum(start, begin)
    inside = np.maximum(inside, 0)
    own, outer = _own_time(trace, lines, at, inside, end)
    top = lines.outer[wanted][np.repeat(np.arange(len(wanted)), sizes)]
    names, omitted = _by_name(trace, lines, at, inside, own, outer, most)
    return Selection(
        begin_ns=begin,
        end_ns=end,
        events=len(at),
        names=names,
        omitted=omitted,
        lanes=_by_lane(lines, at, np.where(top, inside, 0)),
    )


def _own_time(trace: Trace, lines: Lines, at: Ints, inside: Ints, end: int) -> tuple[Ints, Ints]:
    """Of each event its time without those inside it, and whether no event of its name is directly around it."""
    above = lines.above(at)
    # The event around one in the selection is in the selection too, as it lies around it.
    position = np.searchsorted(at, above)
    held = (above >= 0) & (position < len(at))
    held[held] = at[position[held]] == above[held]
    around = position[held]
    until = lines.start[at] + lines.dur[at]
    beyond = np.maximum(np.minimum(until[held], end) - np.minimum(until[around], end), 0)  # of one that crosses
    covered = np.maximum(inside[held] - beyond, 0)
    own = inside - np.bincount(around, covered, minlength=len(at)).astype(np.int64)
    name = trace.events.name[lines.row[at]]
    outer = np.ones(len(at), bool)
    up = np.where(held, position, -1)
    while (up >= 0).any():
        outer &= (up < 0) | (name[up] != name)
        up = np.where(up >= 0, np.where(held[up], position[up], -1), -1)
    if len(at):
        own[lines.marks[lines.line_of(at)]] = 0  # all that runs in a step is the step's
    return np.maximum(own, 0), outer


def _by_name(
    trace: Trace, lines: Lines, at: Ints, inside: Ints, own: Ints, outer: Ints, most: int
) -> tuple[list[NameShare], int]:
    rows = lines.row[at]
    group = trace.events.name[rows].astype(np.int64) * KINDS + trace.kind[rows]
    count = np.bincount(group)
    found = np.flatnonzero(count)
    dense = np.zeros(len(count), np.int64)
    dense[found] = np.arange(len(found))
    group, count = dense[group], count[found]
    total = np.bincount(group, np.where(outer, inside, 0), minlength=len(found))
    self_ = np.bincount(group, own, minlength=len(found))
    size = np.zeros(len(found), np.int64)
    np.maximum.at(size, group, inside)
    longest = np.zeros(len(found), np.int64)
    longest_first = np.flatnonzero(inside == size[group])[::-1]
    longest[group[longest_first]] = longest_first  # backwards, so that of equals the first one stays
    order = np.lexsort((-total, -self_))[:most]
    names = [
        NameShare(
            name=trace.events.names[int(found[one] // KINDS)],
            kind=Kind(int(found[one] % KINDS)).name.lower(),
            count=int(count[one]),
            total_ns=int(total[one]),
            self_ns=int(self_[one]),
            longest_ns=int(inside[longest[one]]),
            longest_event=int(rows[longest[one]]),
        )
        for one in order.tolist()
    ]
    return names, max(0, len(found) - most)


def _by_lane(lines: Lines, at: Ints, busy: Ints) -> list[LaneShare]:
    lane = lines.lane[lines.line_of(at)].astype(np.int64) if len(at) else np.zeros(0, np.int64)
    events = np.bincount(lane)
    together = np.bincount(lane, busy)
    found = np.flatnonzero(events)
    return [LaneShare(lane=one, busy_ns=int(together[one]), events=int(events[one])) for one in found.tolist()]
