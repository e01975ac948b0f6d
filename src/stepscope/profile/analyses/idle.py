"""Why a device stood idle: waiting for the host, for data, after a synchronization, or between two kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import column, mean, named, share, sheet_of
from stepscope.profile.trace.devices import devices_of, window
from stepscope.profile.trace.gaps import CAUSES, Gaps, device_gaps, doing_in, gaps_of_devices
from stepscope.profile.trace.groups import group
from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.op_lines import top_lines
from stepscope.profile.trace.ranges import plain_op_name
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

Values = npt.NDArray[Any]

_CAUSE_HELP = {
    "host": "The device ran out of work before the next launch: the host was too slow.",
    "sync": "The host waited for the device to finish and launched nothing.",
    "data": "The loop waited for the next batch.",
    "kernel": "Between two kernels that were both queued: the device's start-up cost.",
    "other": "Work was queued, but waited for another stream, an event, another device, or something not in the trace.",
}


@dataclass(frozen=True)
class _Line:
    level: int
    device: int
    stream: int | None
    busy: int
    gaps: Gaps


@analysis("idle", view="kernels")
def idle(trace: Trace) -> Sheet | None:
    """Each device and stream: busy, idle, and why it was idle."""
    if not trace.has_device:
        return None
    begin, end = window(trace)
    lines = _lines(trace, begin, end)
    rows: list[list[Any]] = []
    for line in lines:
        by_cause = line.gaps.by_cause()
        free = int(by_cause.sum())
        where = f"device {line.device}" if line.stream is None else f"stream {line.stream}"
        rows.append([where, line.busy, free, free / max(end - begin, 1), *by_cause.tolist(), len(line.gaps.begin)])
    devices_only = [row for row, line in zip(rows, lines, strict=True) if line.stream is None]
    got = sum(row[1] + row[2] for row in devices_only)
    expected = (end - begin) * len(devices_only)
    return Sheet(
        id="idle",
        title="Idle time of devices",
        columns=[
            Column(key="where", label="Where", help="A device, and each of its streams."),
            Column(key="busy_ns", label="Busy", unit="ns", help="Time in which something ran, within the steps."),
            Column(key="idle_ns", label="Idle", unit="ns", help="The rest of the time of the steps."),
            Column(key="idle_share", label="Idle share", unit="share", help="Of the time of the steps."),
            *(Column(key=f"{cause}_ns", label=_LABELS[cause], unit="ns", help=_CAUSE_HELP[cause]) for cause in CAUSES),
            Column(key="gaps", label="Gaps", unit="count", help="How many times it ran out of work."),
        ],
        rows=rows,
        levels=[line.level for line in lines],
        checks=[Check(name="busy and idle sum to the steps", got=got, expected=expected, ok=got == expected)],
    )


_LABELS = {"host": "Host late", "sync": "After a sync", "data": "Data", "kernel": "Between kernels", "other": "Other"}


def _lines(trace: Trace, begin: int, end: int) -> list[_Line]:
    events, found = trace.events, devices_of(trace)
    lines = []
    for number, rows, gaps in zip(found.numbers, found.rows, trace.once(gaps_of_devices), strict=True):
        lines.append(_Line(0, number, None, _busy(trace, rows, begin, end), gaps))
        stream = events.number("stream")[rows]
        each = np.unique(stream).tolist()
        for one in each if len(each) > 1 else []:
            mine = rows[stream == one]
            lines.append(_Line(1, number, one, _busy(trace, mine, begin, end), device_gaps(trace, mine, begin, end)))
    return lines


def _busy(trace: Trace, rows: Values, begin: int, end: int) -> int:
    start = trace.events.start[rows]
    when = Stretches.union(start, start + trace.events.dur[rows])
    return int(when.within(np.array([begin]), np.array([end]))[0])


@analysis("idle-causes", view="kernels", of="profile")
def idle_causes_of(profile: Profile, rank: int = 0) -> Sheet | None:
    """What the devices waited for: the operators whose work came late, and what the host was doing instead."""
    trace = profile.trace(rank)
    return None if trace is None else idle_causes(trace, profile.facts(rank))


def idle_causes(trace: Trace, facts: Mapping[str, Any] | None = None) -> Sheet | None:
    """The sheet. `facts`: what a collector wrote beside the trace; with it, lines are exact."""
    if not trace.has_device:
        return None
    found = trace.once(gaps_of_devices)
    gaps = Gaps.joined(found)
    if not len(gaps.begin):
        return None
    until = np.where(gaps.next >= 0, trace.device_op[gaps.next], -1)
    next_op = _name_of(trace, until)
    doing = _name_of(trace, doing_in(trace, gaps))
    groups = group(gaps.cause, next_op, doing)
    length = gaps.end - gaps.begin
    total, first = groups.sums(length), groups.first
    columns = [
        column("cause", "Cause", [_LABELS[CAUSES[i]] for i in gaps.cause[first].tolist()], help="Why it was idle."),
        column("doing", "The host was in", [name and plain_op_name(name) for name in named(trace, doing[first])],
               help="The outermost operator, or else the named range, that the host was in for most of the gap; "
                    "a dash means Python or nothing."),
        column("next", "Until", named(trace, next_op[first]),
               help="The operator whose work ended the gap."),
        column("gaps", "Gaps", groups.counts, "count", "How many.", sums=True),
        column("total_ns", "Idle", total, "ns", "All of them together.", sums=True),
        column("share", "Share", share(total, float(length.sum())), "share", "Of all idle time.", sums=True),
        column("mean_ns", "Mean", mean(total, groups.counts), "ns", "The mean gap."),
        column("max_ns", "Longest", groups.most(length), "ns", "The longest gap."),
    ]  # fmt: skip
    lines = top_lines(trace, facts or {}, until, groups, length)
    if lines is not None:
        columns.append(column("line", "Line", lines, "line", "The line of your code that the work came from."))
    got, expected = int(total.sum()), sum(int((one.end - one.begin).sum()) for one in found)
    check = Check(name="causes sum to the idle time", got=got, expected=expected, ok=got == expected)
    return sheet_of("idle-causes", "What the devices waited for", columns, sort="total_ns", checks=[check])


def _name_of(trace: Trace, rows: Values) -> Values:
    return np.where(rows >= 0, trace.events.name[rows].astype(np.int64), -1)
