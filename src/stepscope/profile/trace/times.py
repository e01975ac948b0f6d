"""What each operator took: on the host, itself and with what it called, and on devices. Columns, one value an event.

Host times are those of torch's own `key_averages()`: an operator's self time leaves out operators, named ranges and
calls into the device runtime inside it. Python frames in between are looked through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import nearest_above
from stepscope.profile.trace.events import narrowed
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]


@dataclass(frozen=True)
class OpTimes:
    """Times of operators and named ranges, in the order of `rows`; all in nanoseconds.

    In int32 where that holds them: sum them up (sums are int64), do not add columns.
    """

    rows: Rows
    place: Rows
    """Of every event of the trace its place in `rows`, or -1."""
    self_ns: Rows
    runtime_ns: Rows
    """In calls to the device's runtime that it made itself."""
    device_self_ns: Rows
    """Of work on devices that it launched itself."""
    device_ns: Rows
    """Of work on devices that it launched, itself or through what it called."""
    stands_for: Rows
    """The place of the call it belongs to: its own, but for one that does nothing but call itself again (autocast and
    other layers of the dispatcher) and so is one call with the operator around it."""


def enclosing(trace: Trace, *kinds: Kind) -> Rows:
    """For each host event the innermost event of these kinds around it, looking through all others."""
    return nearest_above(trace.parent, trace.are(*kinds))


def op_times(trace: Trace) -> OpTimes:
    """The times of every operator and named range; computed once a trace."""
    return trace.once(_measure)


def _measure(trace: Trace) -> OpTimes:
    events, kind = trace.events, trace.kind
    spans = (kind == Kind.OP.value) | (kind == Kind.ANNOTATION.value)
    rows = np.flatnonzero(spans & (events.ph == ord("X")) & (events.dur >= 0))
    place = np.full(len(trace), -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    around = enclosing(trace, Kind.OP, Kind.ANNOTATION, Kind.RUNTIME)
    inside = np.flatnonzero((spans | (kind == Kind.RUNTIME.value)) & (around >= 0))
    above = place[around[inside]]
    inside, above = inside[above >= 0], above[above >= 0]
    dur = events.dur[inside]
    nested = np.bincount(above, dur, len(rows)).astype(np.int64)
    calls = kind[inside] == Kind.RUNTIME.value
    runtime = np.bincount(above[calls], dur[calls], len(rows)).astype(np.int64)
    own, total = _device_times(trace, rows, place, around)
    one_call = _one_call(trace, rows, place, above, inside)
    self_ns = narrowed(events.dur[rows] - nested)
    return OpTimes(rows, place, self_ns, narrowed(runtime), narrowed(own), narrowed(total), one_call)


def _one_call(trace: Trace, rows: Rows, place: Rows, above: Rows, inside: Rows) -> Rows:
    """Operators that are the only thing inside an operator of the same name are one call with it."""
    name = trace.events.name
    alone = np.bincount(above, minlength=len(rows))[above] == 1
    again = alone & (name[inside] == name[rows[above]])
    upward = np.arange(len(rows), dtype=np.int32)
    upward[place[inside[again]]] = above[again]
    while True:
        further = upward[upward]
        if np.array_equal(further, upward):
            return upward
        upward = further


def _device_times(trace: Trace, rows: Rows, place: Rows, around: Rows) -> tuple[Rows, Rows]:
    """Work on devices by the operator that launched it, and by everything around that operator."""
    events, work = trace.events, trace.device_rows
    at = trace.device_op[work]
    linked = at >= 0
    at, dur = at[linked], events.dur[work[linked]]
    own = np.bincount(place[at], dur, len(rows)).astype(np.int64)
    # First per launching operator, then up its ancestors: far fewer than kernels.
    launching = np.flatnonzero(own > 0)
    above, amount = rows[launching], own[launching]
    places, amounts = [place[above]], [amount]
    while True:
        above = around[above]
        keep = above >= 0
        above, amount = above[keep], amount[keep]
        if not len(above):
            break
        is_span = place[above] >= 0
        places.append(place[above[is_span]])
        amounts.append(amount[is_span])
    total = np.bincount(np.concatenate(places), np.concatenate(amounts), len(rows)).astype(np.int64)
    return own, total


def outermost_of_name(trace: Trace, rows: Rows) -> Rows:
    """A mask over `rows` (operators): not inside another operator of the same name, so that totals count time once."""
    up, name = trace.op_parent, trace.events.name
    outer = np.ones(len(rows), bool)
    at = np.arange(len(rows))
    above = up[rows]
    while True:
        keep = above >= 0
        at, above = at[keep], above[keep]
        if not len(at):
            return outer
        same = name[above] == name[rows[at]]
        outer[at[same]] = False
        at, above = at[~same], up[above[~same]]
