"""Statistics of a stretch of time, against sums done by hand."""

from __future__ import annotations

import numpy as np
import pytest

from stepscope.profile.timeline.timeline import Timeline
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace

from .conftest import trace_of


def test_times_are_those_inside_the_selection() -> None:
    trace = trace_of(("outer", 0, 100), ("inner", 20, 30), ("inner", 60, 30), ("gone", 200, 5))
    found = Timeline(trace).select(40, 80)
    assert found.events == 3
    assert [(one.name, one.count, one.total_ns, one.self_ns, one.longest_ns) for one in found.names] == [
        ("inner", 2, 30, 30, 20),
        ("outer", 1, 40, 10, 40),
    ]
    assert [(one.lane, one.busy_ns, one.events) for one in found.lanes] == [(0, 40, 3)]


def test_a_name_inside_itself_is_counted_once_in_total() -> None:
    found = Timeline(trace_of(("f", 0, 100), ("g", 10, 80), ("f", 20, 50))).select(0, 100)
    assert {one.name: (one.count, one.total_ns, one.self_ns) for one in found.names} == {
        "f": (2, 100, 20 + 50),
        "g": (1, 80, 30),
    }


def test_only_some_lanes_are_counted() -> None:
    trace = trace_of(("a", 0, 10), ("b", 0, 20, {"tid": 2}))
    assert [one.name for one in Timeline(trace).select(0, 100, [1]).names] == ["b"]


def test_what_is_left_out_is_said() -> None:
    from stepscope.profile.timeline.selection import select

    timeline = Timeline(trace_of(*((f"op {at}", at * 10, at + 1) for at in range(9))))
    found = select(timeline.trace, timeline.lines, 0, 1_000, most=4)
    assert ([one.name for one in found.names], found.omitted) == (["op 8", "op 7", "op 6", "op 5"], 5)


def test_kernels_of_a_real_trace_sum_to_the_raw_durations(h200: Trace) -> None:
    timeline = Timeline(h200)
    found = timeline.select(0, timeline.lines.span_ns)
    kernels = h200.rows(Kind.KERNEL)
    assert sum(one.total_ns for one in found.names if one.kind == "kernel") == int(h200.events.dur[kernels].sum())
    assert sum(one.count for one in found.names if one.kind == "kernel") == len(kernels)
    own = sum(one.self_ns for one in found.names)
    lines = timeline.lines
    outermost = (lines.above(np.arange(len(lines))) < 0) & ~lines.marks[lines.line_of(np.arange(len(lines)))]
    above = lines.above(np.arange(len(lines)))
    end = lines.start + lines.dur
    beyond = np.maximum(end - end[above], 0)[above >= 0].sum()  # what reaches beyond the event around it
    # What is inside an event takes from its own time, so the own times sum to the outermost events'.
    assert own == pytest.approx(int(lines.dur[outermost].sum() + beyond), rel=1e-4)
