"""The critical path of a typical step: what would have to be faster for the step to be faster."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import column, mean, share, sheet_of
from stepscope.profile.trace.ancestors import next_above
from stepscope.profile.trace.gaps import named_ranges, outer_ops
from stepscope.profile.trace.intervals import Stretches, without_overlap
from stepscope.profile.trace.kernel_names import short_kernel_name
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.path import DEVICE, HOST, LAUNCH, QUEUE, WAKE, Path, critical_path
from stepscope.profile.trace.ranges import data_rows, is_communication, plain_op_name
from stepscope.profile.trace.step_parts import first_is_odd
from stepscope.profile.trace.step_spans import StepSpan
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Sheet

Values = npt.NDArray[Any]
Lines = dict[tuple[str, str], list[int]]

_BETWEEN = {LAUNCH: "launch to start", QUEUE: "between pieces of work", WAKE: "return from a wait"}


@analysis("critical-path", view="overview")
def on_critical_path(trace: Trace) -> Sheet | None:
    """What lies on the critical path of a typical step: host work, kernels, copies, communication and waits."""
    step = typical_step(trace)
    if step is None or step.wall_ns <= 0:
        return None
    path = critical_path(trace, step.begin_ns, step.end_ns)
    lines: Lines = {}
    _add_device(trace, path, lines)
    _add_host(trace, path, lines)
    keys = sorted(lines, key=lambda key: -lines[key][0])
    total = np.array([lines[key][0] for key in keys], np.int64)
    count = np.array([lines[key][1] for key in keys], np.int64)
    columns = [
        column("where", "Where", [key[0] for key in keys], help="On the host, on the device, or between the two."),
        column("what", "What", [key[1] for key in keys],
               help="The outermost operator or range of the host, or the kernel."),
        column("total_ns", "On the path", total, "ns", "The part of the step that it bounds.", sums=True),
        column("share", "Share", share(total, float(step.wall_ns)), "share", "Of the step.", sums=True),
        column("pieces", "Pieces", count, "count", "The number of path segments."),
        column("mean_ns", "Mean", mean(total, count), "ns", "Of a piece.", hidden=True),
    ]  # fmt: skip
    got = int(total.sum())
    check = Check(name="the path is as long as the step", got=got, expected=step.wall_ns, ok=got == step.wall_ns)
    notes = [f"of step {step.number}, the one of median length"]
    if not trace.has_device:
        notes.append("nothing ran on an accelerator: the path is on the host")
    return sheet_of("critical-path", "Critical path", columns, sort="total_ns", checks=[check], notes=notes)


def typical_step(trace: Trace) -> StepSpan | None:
    """The step of median length, without a first one that is warm-up."""
    steps = trace.device_steps
    if not steps:
        return None
    steps = steps[1:] if first_is_odd([step.wall_ns for step in steps]) else steps
    return sorted(steps, key=lambda step: step.wall_ns)[(len(steps) - 1) // 2]


def _add(lines: Lines, where: str, what: str, length: int, pieces: int = 1) -> None:
    if length > 0:
        line = lines.setdefault((where, what), [0, 0])
        line[0] += length
        line[1] += pieces


def _add_device(trace: Trace, path: Path, lines: Lines) -> None:
    """Pieces on devices by kernel, and the waits between the host and them."""
    names = trace.events.names
    length = path.end - path.begin
    for place in np.flatnonzero(path.kind != HOST).tolist():
        kind, row = int(path.kind[place]), int(path.row[place])
        if kind != DEVICE:
            _add(lines, "between", _BETWEEN[kind], int(length[place]))
            continue
        name = names[int(trace.events.name[row])]
        is_kernel = trace.kind[row] == Kind.KERNEL.value
        where = "communication" if trace.is_collective[row] else "kernel" if is_kernel else "copy"
        _add(lines, where, short_kernel_name(name) if is_kernel else name, int(length[place]))


def _add_host(trace: Trace, path: Path, lines: Lines) -> None:
    """Pieces on the host by operator or range; the rest is Python, or waiting for what is not in the trace.

    Data loading wins over operators, those over communication (which has threads of its own) and named ranges.
    """
    on_host = path.kind == HOST
    host = Stretches(path.begin[on_host], path.end[on_host])
    if not len(host.begin):
        return
    free = host
    for where, rows in _layers(trace, int(host.begin[0]), int(host.end[-1])):
        amount = _innermost(trace, rows, free)
        name = trace.events.name[rows]
        for one in np.unique(name[amount > 0]).tolist():
            mine = (name == one) & (amount > 0)
            what = plain_op_name(trace.events.names[one]) if where != "data" else "waiting for the next batch"
            _add(lines, where, what, int(amount[mine].sum()), int(mine.sum()))
        covered = Stretches.union(*_span(trace, rows))
        free = free & covered.gaps(int(host.begin[0]), int(host.end[-1]))
    _add(lines, "host", "between operators (Python)", free.total, len(host.begin))


def _innermost(trace: Trace, rows: Values, free: Stretches) -> Values:
    """How much of the free time lies in each span and in no span inside it; every moment counts once.

    Where spans of several threads overlap, the one that began first has it.
    """
    begin, end = _span(trace, rows)
    mine = np.zeros(len(trace), bool)
    mine[rows] = True
    place = np.full(len(trace) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    above = place[next_above(trace.parent, rows, mine)]
    amount = free.within(begin, end)
    nested = np.bincount(above[above >= 0], amount[above >= 0], len(rows)).astype(np.int64)
    own = amount - nested
    if (own >= 0).all() and own.sum() == (free & Stretches.union(begin, end)).total:
        return np.asarray(own)
    cut_begin, cut_end, kept = without_overlap(begin, end)
    found = np.zeros(len(rows), np.int64)
    found[kept] = free.within(cut_begin, cut_end)
    return found


def _layers(trace: Trace, begin: int, end: int) -> list[tuple[str, Values]]:
    """The spans of the host by sort, those that win first."""
    events = trace.events
    ops, ranges = (
        rows[(events.start[rows] < end) & (events.start[rows] + events.dur[rows] > begin)]
        for rows in (trace.once(outer_ops), trace.once(named_ranges))
    )
    speaking = events.named(is_communication)
    return [
        ("data", data_rows(trace)),
        ("host", ops[~speaking[ops]]),
        ("communication", np.concatenate([ops[speaking[ops]], ranges[speaking[ranges]]])),
        ("host", ranges[~speaking[ranges]]),
    ]


def _span(trace: Trace, rows: Values) -> tuple[Values, Values]:
    begin = trace.events.start[rows]
    return begin, begin + np.maximum(trace.events.dur[rows], 0)
