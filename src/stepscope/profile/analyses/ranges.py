"""Ranges the program named: record_function, DataLoader, optimizer steps and other named ranges in the trace."""

from __future__ import annotations

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import column, mean, named, sheet_of
from stepscope.profile.trace.ancestors import next_above
from stepscope.profile.trace.groups import index_of
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.ranges import is_step_mark
from stepscope.profile.trace.times import op_times
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Sheet


@analysis("ranges", view="operators")
def ranges(trace: Trace) -> Sheet | None:
    """Named ranges (record_function, DataLoader, optimizer steps): calls, host time, the kernels launched in them."""
    times, events = op_times(trace), trace.events
    marks = events.named(is_step_mark)
    rows = times.rows[(trace.kind[times.rows] == Kind.ANNOTATION.value) & ~marks[times.rows]]
    if not len(rows):
        return None
    groups = index_of(events.name[rows], len(events.names))
    at = times.place[rows]
    # A range inside another is counted in both totals; inside one of its own name, once.
    inside = next_above(trace.parent, rows, trace.kind == Kind.ANNOTATION.value)
    outer = (inside < 0) | (events.name[inside] != events.name[rows])
    total = groups.sums(np.where(outer, events.dur[rows], 0))
    counts = groups.counts
    columns = [
        column("name", "Range", named(trace, events.name[rows[groups.first]]), help="As the program named it."),
        column("calls", "Calls", counts, "count", "How often it was entered.", sums=True),
        column("host_total_ns", "Host total", total, "ns", "Time on the host from entering to leaving it."),
        column("host_mean_ns", "Host mean", mean(total, counts), "ns", "The same for one."),
        column("host_self_ns", "Python", groups.sums(times.self_ns[at]), "ns",
               "Time in it outside of operators, runtime calls and inner ranges: Python, or waiting.", sums=True),
    ]  # fmt: skip
    if trace.has_device:
        work = groups.sums(np.where(outer, times.device_ns[at], 0))
        columns.append(
            column("device_total_ns", "Device", work, "ns", "Time of the kernels and copies launched in it.")
        )
    return sheet_of("ranges", "Named ranges", columns, sort="host_total_ns")
