"""The gaps of a device: when nothing ran on it, what ended each, and why it came only then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.devices import devices_of, window
from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.python_names import MODULE_SPAN
from stepscope.profile.trace.ranges import data_rows, is_step_mark, is_sync_call
from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]

CAUSES = ("host", "sync", "data", "kernel", "other")
_HOST, _SYNC, _DATA, _KERNEL, _OTHER = range(5)

BACK_TO_BACK_NS = 10_000
"""A gap up to this long between work that was already there is what a start costs. (Launches on one stream follow each
other by one to a few microseconds; copies between memories by some more.)"""


@dataclass(frozen=True)
class Gaps:
    """In order of time; columns of one length."""

    begin: Rows
    end: Rows
    next: Rows
    """The work that ended the gap, or -1 at the end of the last step."""
    cause: Rows
    """Index into CAUSES."""

    @classmethod
    def joined(cls, several: Sequence[Gaps]) -> Gaps:
        names = ("begin", "end", "next", "cause")
        return cls(*(np.concatenate([getattr(one, name) for one in several]) for name in names))

    def by_cause(self) -> Rows:
        return np.bincount(self.cause, self.end - self.begin, len(CAUSES)).astype(np.int64)


def sync_rows(trace: Trace) -> Rows:
    """Runtime calls in which the host waited for a device: synchronizations, and copies that return when done."""
    events = trace.events
    calls = trace.rows(Kind.RUNTIME)
    waiting = events.named(is_sync_call)
    # A copy to pageable memory is called asynchronous and is not: the call ends after the copy.
    copies = trace.rows(Kind.MEMCPY)
    launched = trace.launch[copies]
    copies, launched = copies[launched >= 0], launched[launched >= 0]
    returned = events.start[launched] + events.dur[launched]
    blocked = launched[returned >= events.start[copies] + events.dur[copies]]
    waiting[blocked] = True
    return np.asarray(calls[waiting[calls]])


def outer_ops(trace: Trace) -> Rows:
    """Outermost operators, in order of time."""
    events = trace.events
    rows = np.flatnonzero((trace.kind == Kind.OP.value) & (trace.op_parent < 0) & (events.dur > 0))
    return rows[np.argsort(events.start[rows], kind="stable")]


def named_ranges(trace: Trace) -> Rows:
    """Ranges the program named, without the marks of steps and our own spans of modules, in order of time."""
    events = trace.events
    rows = np.flatnonzero((trace.kind == Kind.ANNOTATION.value) & (events.dur > 0))
    rows = rows[~events.named(lambda name: is_step_mark(name) or name.startswith(MODULE_SPAN))[rows]]
    return rows[np.argsort(events.start[rows], kind="stable")]


def gaps_of_devices(trace: Trace) -> list[Gaps]:
    """The gaps of each device within the steps."""
    begin, end = window(trace)
    return [device_gaps(trace, rows, begin, end) for rows in devices_of(trace).rows]


def device_gaps(trace: Trace, rows: Rows, begin: int, end: int) -> Gaps:
    """When none of this work ran between two moments, and why."""
    events = trace.events
    rows = rows[np.argsort(events.start[rows], kind="stable")]
    start = events.start[rows]
    busy = Stretches.union(start, start + events.dur[rows])
    free = busy.gaps(begin, end)
    at = np.searchsorted(start, free.end)
    following = np.where(at < len(rows), rows[np.minimum(at, len(rows) - 1)], -1)
    following = np.where(free.end >= end, -1, following)
    return Gaps(free.begin, free.end, following, _causes(trace, free, following))


def _causes(trace: Trace, free: Stretches, following: Rows) -> Rows:
    events = trace.events
    call = np.where(following >= 0, trace.launch[following], -1)
    launched = np.where(call >= 0, events.start[call], np.where(following >= 0, -1, free.end))
    length = free.end - free.begin
    late = launched > free.begin
    cause = np.where(late, _HOST, np.where(length <= BACK_TO_BACK_NS, _KERNEL, _OTHER))
    waiting, data = trace.once(_waiting)
    # The host was still in a wait when the device ran dry: nothing could be there already.
    cause = np.where(late & (waiting.holds(free.begin) >= 0), _SYNC, cause)
    return np.where(late & (2 * data.within(free.begin, free.end) > length), _DATA, cause)


def _waiting(trace: Trace) -> tuple[Stretches, Stretches]:
    """When the host waited for a device, and when the loop waited for data."""
    start, dur = trace.events.start, trace.events.dur
    waits, loading = trace.once(sync_rows), data_rows(trace)
    return (
        Stretches.union(start[waits], start[waits] + dur[waits]),
        Stretches.union(start[loading], start[loading] + dur[loading]),
    )


def doing_in(trace: Trace, free: Gaps) -> Rows:
    """What the host did for most of each gap: an outermost operator, else a named range; -1: Python, or nothing."""
    op, in_op = _covering(trace, trace.once(outer_ops), free)
    other, in_other = _covering(trace, trace.once(named_ranges), free)
    return np.where((2 * in_op >= free.end - free.begin) | (in_op >= in_other), op, other)


def _covering(trace: Trace, rows: Rows, free: Gaps) -> tuple[Rows, Rows]:
    """Of these spans the one that covers most of each gap, among those open at its ends and its middle; how much."""
    best, most = np.full(len(free.begin), -1, np.int64), np.zeros(len(free.begin), np.int64)
    if not len(rows):
        return best, most
    start = trace.events.start[rows]
    stop = start + trace.events.dur[rows]
    for moment in (free.begin, (free.begin + free.end) // 2, free.end):
        at = np.searchsorted(start, moment, side="right") - 1
        for back in (0, 1):  # the last to begin before it, and the one before that (another thread)
            place = np.maximum(at - back, 0)
            overlap = np.minimum(stop[place], free.end) - np.maximum(start[place], free.begin)
            better = (at >= back) & (overlap > most)
            best, most = np.where(better, rows[place], best), np.where(better, overlap, most)
    return best, most
