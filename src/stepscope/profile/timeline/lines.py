"""Where every event is drawn: a lane has lines, one for each depth of nesting, and events of a line do not overlap.

Everything else about the timeline (levels of detail, tiles, statistics) is a search in the sorted columns made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import depths
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.library import late_in_groups, most_in_groups, order_in_groups, take
from stepscope.profile.trace.nesting import nest
from stepscope.profile.trace.python_trees import not_of_the_script
from stepscope.profile.trace.trace import Trace

Ints = npt.NDArray[Any]

SLACK_NS = 1_000
"""Profilers round to microseconds: neighbors that overlap by less still share a line."""
MOST_BITS = 62
LONG_NS = 7 * 86_400 * 1_000_000_000
"""A week: no trace is that long, but one event with a wrong clock makes it look so."""
PAUSE_NS = 3_600 * 1_000_000_000
MOST_CROSSING = 200
"""Lines for spans that cross each other; more of them at one time are drawn over each other in the last."""


@dataclass(frozen=True)
class Lines:
    """The drawn events, sorted by line and then by time. A *place* is a position in these columns."""

    base_ns: int
    """Unix time of 0 on the axis."""
    span_ns: int
    """From there to the end of the last event."""
    bits: int
    """A line is `1 << bits` nanoseconds long, more than `span_ns`."""
    row: Ints
    """uint32: the event's row in the table."""
    key: Ints
    """int64, ascending: `line << bits | start`. One search finds a time in a line."""
    dur: Ints
    """int64"""
    first: Ints
    """int64: of each line its first place, and at the end their number."""
    lane: Ints
    """int32, of each line."""
    depth: Ints
    """uint16, of each line, from the top."""
    outer: Ints
    """bool, of each line: it has the outermost events of its lane."""
    marks: Ints
    """bool, of each line: it has marks (of steps, or what torch projects on a stream), over the outermost events."""
    loose: Ints
    """bool, of each line: it has what crosses others, below the deepest; nothing is around that."""
    hidden: int = 0
    """Events that are not drawn: allocations, flows (they are arrows) and calls that are not of the script."""
    ours: int = 0
    """Of these, the calls of Stepscope itself and of what launched the script."""
    moved: int = 0
    """Events with times so far outside that they stand at the edge of the axis."""

    def __len__(self) -> int:
        return len(self.row)

    @property
    def start(self) -> Ints:
        return self.key & ((1 << self.bits) - 1)

    def line_of(self, places: Ints) -> Ints:
        return self.key[places] >> self.bits

    def of_lane(self, lane: int) -> Ints:
        """The numbers of a lane's lines, from the top."""
        low, high = np.searchsorted(self.lane, [lane, lane + 1])
        return np.arange(low, high)

    def around(self, lines: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Of each line the first and the last place (exclusive) that meets a stretch of time."""
        return stretch_of(self.key, self.dur, self.first, self.bits, lines, begin, end)

    def place_of(self, row: int) -> int | None:
        """Where an event of the table is drawn; None for one that is not."""
        place = int(self._places[row]) if 0 <= row < len(self._places) else -1
        return place if place >= 0 else None

    @cached_property
    def _places(self) -> Ints:
        places = np.full(int(self.row.max()) + 1 if len(self) else 0, -1, np.int32)
        places[self.row] = np.arange(len(self), dtype=np.int32)
        return places

    def above(self, places: Ints) -> Ints:
        """For each place the one of the event around it, -1 for the outermost. Marks of steps are around nothing."""
        line = self.line_of(places)
        inside = ~(self.outer | self.marks | self.loose)[line] if len(self.depth) else np.zeros(0, bool)
        at = np.searchsorted(self.key, ((line - 1) << self.bits) | self.start[places], side="right") - 1
        at = np.maximum(at, 0)
        until = self.key[at] + self.dur[at] + (1 << self.bits)
        holds = inside & (self.line_of(at) == line - 1) & (until > self.key[places])
        return np.where(holds, at, -1)


def stretch_of(key: Ints, dur: Ints, first: Ints, bits: int, lines: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """`Lines.around`, for any columns that are sorted in this way."""
    length = 1 << bits
    low = np.searchsorted(key, (lines << bits) + np.clip(begin, 0, length))
    high = np.searchsorted(key, (lines << bits) + np.clip(end, 0, length))
    before = np.maximum(low - 1, 0)
    reaches = (low > first[lines]) & (key[before] + dur[before] > (lines << bits) + begin) if len(key) else low < 0
    return np.where(reaches, low - 1, low), high


def lay_out(trace: Trace) -> Lines:
    """Gives each event its line: below the event around it, or on a line of its own where lanes hold what overlaps."""
    events = trace.events
    draws = (trace.kind != Kind.FLOW.value) & (trace.kind != Kind.MEMORY.value)
    ours = not_of_the_script(trace)
    draws[ours] = False  # the script is the root of its own calls
    drawn = np.flatnonzero(draws).astype(np.uint32)
    hidden = len(events) - len(drawn)
    if not len(drawn):
        none = np.zeros(0, np.int64)
        return Lines(0, 0, 1, none, none, none, np.zeros(1, np.int64), none, none, none, none, none, hidden, len(ours))
    lane, lanes = events.lane, len(events.lanes)  # columns of all events here, never copied for those that are drawn
    base, span, start, dur, moved = _on_axis(events.start, _closed(events.start, events.dur, drawn), drawn, lanes)
    depth, marked = _stacked(lane, start, dur, drawn, _marks(trace), lanes)
    bits = max(1, span.bit_length())
    deepest = most_in_groups(lane, lanes, depth)
    line, order = _in_lines(lane, depth, start, drawn)
    crossing = order[late_in_groups(order, line, start, dur, SLACK_NS)]
    if len(crossing):
        _move_apart(lane, depth, start - base, dur, crossing, deepest, span)
        del line, order
        line, order = _in_lines(lane, depth, start, drawn)
    line = take(line, order)
    first = np.concatenate(([0], np.flatnonzero(line[1:] != line[:-1]) + 1, [len(order)]))
    del line
    lane, depth = lane[order[first[:-1]]], depth[order[first[:-1]]]
    key = np.repeat((np.arange(len(lane)) << bits) - base, np.diff(first))
    key += take(start, order)
    return Lines(
        base_ns=base,
        span_ns=span,
        bits=bits,
        row=order.astype(np.uint32, copy=False),
        key=key,
        dur=take(dur, order),
        first=first,
        lane=lane.astype(np.int32),
        depth=depth.astype(np.uint16),
        outer=depth == marked[lane],
        marks=depth < marked[lane],
        loose=depth > deepest[lane],
        hidden=hidden,
        ours=len(ours),
        moved=moved,
    )


def _closed(start: Ints, dur: Ints, drawn: Ints) -> Ints:
    """Durations; what the trace does not see ending reaches to the end of it."""
    open_ended = drawn[take(dur, drawn) < 0]
    if not len(open_ended):
        return dur
    dur = np.maximum(dur, 0)
    dur[open_ended] = np.maximum(int((start[drawn] + dur[drawn]).max()) - start[open_ended], 0)
    return dur


def _on_axis(start: Ints, dur: Ints, drawn: Ints, lanes: int) -> tuple[int, int, Ints, Ints, int]:
    """The first moment drawn, how long the axis is, times that lie on it, and how many were moved to its edges.

    A clock that is absurdly off does not stretch the axis over centuries.
    """
    begins = take(start, drawn)
    ends = begins + take(dur, drawn)
    base, end = int(begins.min()), int(ends.max())
    most = (1 << (MOST_BITS - (lanes << 10).bit_length())) - 1
    if end - base <= min(LONG_NS, most):
        return base, end - base, start, dur, 0
    if end - base > LONG_NS:
        base, end = _densest(begins)
        end = min(max(end, int(ends[(begins >= base) & (begins <= end)].max())), base + LONG_NS)
    end = min(end, base + most)
    moved = int(((begins < base) | (ends > end)).sum())
    start, stop = np.clip(start, base, end), np.clip(start + dur, base, end)
    return base, int(stop[drawn].max()) - base, start, stop - start, moved


def _densest(start: Ints) -> tuple[int, int]:
    """The first and last of the events that have the most others near them."""
    ordered = np.sort(start)
    edges = np.concatenate(([0], np.flatnonzero(np.diff(ordered) > PAUSE_NS) + 1, [len(ordered)]))
    most = int(np.diff(edges).argmax())
    return int(ordered[edges[most]]), int(ordered[edges[most + 1] - 1])


def _marks(trace: Trace) -> Ints:
    """A mask: spans of whole steps, and annotations on a device's stream.

    A step's begins inside a call that ends long before it, so it nests in nothing; a stream's only say what the work
    below them was for, and would hide how busy the stream is.
    """
    steps = trace.events.named(lambda name: name.startswith(("ProfilerStep#", "StepscopeStep#")))
    return np.asarray((steps & (trace.kind == Kind.ANNOTATION.value)) | (trace.kind == Kind.DEVICE_ANNOTATION.value))


def _stacked(lane: Ints, start: Ints, dur: Ints, drawn: Ints, marks: Ints, lanes: int) -> tuple[Ints, Ints]:
    """The depth of each event, marks over all others; and of each lane how many lines its marks take."""
    rest = drawn[~take(marks, drawn)]
    others = np.bincount(take(lane, rest), minlength=lanes)
    at = np.flatnonzero(marks)
    alone = others[lane[at]] == 0
    if alone.any():  # where a lane has nothing but marks, they are its events
        marks[at[alone]] = False
        at, rest = at[~alone], drawn[~marks[drawn]]
    depth: Ints = depths(nest(lane, start, dur, rest))
    marked = np.zeros(lanes, np.int64)
    if len(at):
        above = depths(nest(lane[at], start[at], dur[at]))
        np.maximum.at(marked, lane[at], above + 1)
        depth += take(marked.astype(np.int32), lane)
        depth[at] = above
    return depth, marked


def _in_lines(lane: Ints, depth: Ints, start: Ints, drawn: Ints) -> tuple[Ints, Ints]:
    """The line of each event, and the order of the drawn ones by lane, depth and time."""
    deepest = int(depth.max()) + 1
    groups = (int(lane.max()) + 1) * deepest
    line = lane.astype(np.uint32 if groups < 1 << 32 else np.int64)
    line *= deepest
    line += depth.astype(line.dtype)
    return line, order_in_groups(line, groups, start, drawn)


def _late(key: Ints, dur: Ints) -> Ints:
    """A mask: spans that overlap an earlier one. Keys of different lines are further apart than any span is long."""
    late = np.zeros(len(key), bool)
    until = np.maximum.accumulate(key + dur)
    late[1:] = until[:-1] - key[1:] > np.minimum(SLACK_NS, dur[1:] // 2)
    return late


def _move_apart(lane: Ints, depth: Ints, start: Ints, dur: Ints, crossing: Ints, deepest: Ints, span: int) -> None:
    """Gives spans that cross others lines of their own, below the deepest of their lane. Times are from the base on."""
    length = span + 1
    left = crossing[np.lexsort((-dur[crossing], start[crossing], lane[crossing]))]
    for below in range(1, MOST_CROSSING + 1):
        depth[left] = deepest[lane[left]] + below
        left = left[_late(lane[left].astype(np.int64) * length + start[left], dur[left])]
        if not len(left):
            return
