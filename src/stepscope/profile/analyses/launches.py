"""Launches: what it costs the host to start work, how short that work is, and how long it waits in the queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.table import column, mean, named, sheet_of
from stepscope.profile.trace.groups import index_of
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Sheet

Values = npt.NDArray[Any]

SHORT_NS = 10_000
"""A kernel shorter than this is over before the host can launch the next: a launch takes 5 to 10 us of the host."""


@analysis("launches", view="kernels")
def launches(trace: Trace) -> Sheet | None:
    """Kernels by the operator that launched them: short ones, time of the launching call, delay in the queue."""
    kernels = trace.rows(Kind.KERNEL)
    kernels = kernels[~trace.is_collective[kernels]]
    call = trace.launch[kernels] if len(kernels) else kernels
    rows, call = kernels[call >= 0], call[call >= 0]
    if not len(rows):
        return None
    events = trace.events
    op = trace.device_op[rows]
    launcher = np.where(op >= 0, events.name[op].astype(np.int64), -1)
    groups = index_of(launcher + 1, len(events.names) + 1)
    dur, cost = events.dur[rows], _cost(trace, call)
    # On the device's clock a kernel can seem to begin before its call has; that is not a delay.
    delay = np.maximum(events.start[rows] - (events.start[call] + events.dur[call]), 0)
    short, dearer = dur < SHORT_NS, cost > dur
    counts = groups.counts
    columns = [
        column("operator", "Launched by", named(trace, launcher[groups.first]), help="The innermost operator."),
        column("launches", "Launches", counts, "count", "How many kernels it launched.", sums=True),
        column("short", "Short kernels", groups.sums(short.astype(np.int64)), "count",
               f"Kernels shorter than {SHORT_NS // 1000} us: the device is done before the next one is launched.",
               sums=True),
        column("dearer", "Launch longer", groups.sums(dearer.astype(np.int64)), "count",
               "Kernels shorter than the call that launched them.", sums=True),
        column("kernel_ns", "Kernel time", groups.sums(dur), "ns", "Of all the kernels.", sums=True),
        column("kernel_mean_ns", "Kernel mean", mean(groups.sums(dur), counts), "ns", "Of one kernel."),
        column("launch_ns", "Launch time", groups.sums(cost), "ns", "Host time in the launching calls.", sums=True),
        column("launch_mean_ns", "Launch mean", mean(groups.sums(cost), counts), "ns", "Of one launching call."),
        column("delay_mean_ns", "Queue mean", mean(groups.sums(delay), counts), "ns",
               "From the end of the launching call to the start of the kernel; long when the device lags behind."),
        column("delay_max_ns", "Queue max", groups.most(delay), "ns", "The longest of these delays.", hidden=True),
    ]  # fmt: skip
    got, expected = int(counts.sum()), len(kernels) - int((trace.launch[kernels] < 0).sum())
    check = Check(
        name="launches equal the linked kernels", got=got, expected=expected, unit="count", ok=got == expected
    )
    return sheet_of("launches", "Launches", columns, sort="launches", checks=[check],
                    notes=_notes(kernels, rows, dur, cost, short))  # fmt: skip


def _cost(trace: Trace, call: Values) -> Values:
    """The launching call's time; a call that launches several (a graph) is shared by them."""
    _, place, shared = np.unique(call, return_inverse=True, return_counts=True)
    return np.asarray(trace.events.dur[call] // shared[place.ravel()])


def _notes(kernels: Values, rows: Values, dur: Values, cost: Values, short: Values) -> list[str]:
    notes = [f"{int(short.sum())} of {len(rows)} kernels ({100 * short.mean():.0f}%) are shorter than "
             f"{SHORT_NS // 1000} us; launching took the host {cost.sum() / max(int(dur.sum()), 1):.1f}x the time the "
             "kernels ran"]  # fmt: skip
    if len(kernels) > len(rows):
        notes.append(f"{len(kernels) - len(rows)} kernels have no launching call in the trace and are omitted")
    return notes
