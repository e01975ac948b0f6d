"""What of a trace no step shows: device work outside the steps, collectives of one rank, categories nobody knows.

Whatever a view of steps leaves out has to be named beside it. So `outside_ns` is worked out from the gaps between the
steps, not as a difference, and inside plus outside can be compared with the raw events.
"""

from __future__ import annotations

import numpy as np

from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kernel_names import is_collective_name
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.ranges import collective_rows
from stepscope.profile.trace.trace import Rows, Trace

_WORTH_SAYING = 0.001


def busy_time(trace: Trace) -> Stretches:
    """When anything ran on a device, or a backend of the host exchanged data for it: from the raw events."""
    return _when(trace, np.union1d(trace.device_rows, collective_rows(trace)))


def outside_ns(trace: Trace) -> int:
    """How much of `busy_time` lies before, between and after the steps."""
    busy = busy_time(trace)
    if not len(busy.begin):
        return 0
    spans = trace.device_steps
    steps = Stretches.union(
        np.array([step.begin_ns for step in spans], np.int64), np.array([step.end_ns for step in spans], np.int64)
    )
    free = steps.gaps(int(busy.begin[0]), int(busy.end[-1]))
    return (busy & free).total


def unknown_categories(trace: Trace) -> dict[str, tuple[int, int]]:
    """Category -> (events, nanoseconds) of spans whose category no view knows; step marks are known by their name."""
    events = trace.events
    marks = events.named(lambda name: name.startswith(("ProfilerStep", "StepscopeStep")))
    rows = np.flatnonzero((trace.kind == Kind.OTHER.value) & (events.dur > 0) & ~marks)
    found = {}
    for cat in np.unique(events.cat[rows]).tolist():
        mine = rows[events.cat[rows] == cat]
        found[events.cats[cat] or "(none)"] = (len(mine), int(events.dur[mine].sum()))
    return found


def notes_on_outside(trace: Trace) -> list[str]:
    """Sentences for the view of steps."""
    notes = []
    if trace.has_device and trace.steps:
        late = trace.device_steps[-1].end_ns - trace.steps[-1].end_ns
        if late > _WORTH_SAYING * sum(step.wall_ns for step in trace.device_steps):
            notes.append(
                f"the device works for {late / 1e6:.3g} ms after the host's last step mark, on what the last step "
                "launched: it counts to that step"
            )
        busy, outside = busy_time(trace).total, outside_ns(trace)
        if outside:
            notes.append(
                f"outside the steps the device works for another {outside / 1e6:.3g} ms "
                f"({outside / busy:.1%} of its time), launched before, between or after them"
            )
    alone = trace.events.named(is_collective_name) & (trace.kind == Kind.KERNEL.value) & trace.is_alone
    if alone.any():
        notes.append(f"{int(alone.sum()):,} collectives of a group of one rank exchange nothing: they count as kernels")
    unknown = unknown_categories(trace)
    if unknown:
        count, total = (sum(one[at] for one in unknown.values()) for at in (0, 1))
        names = ", ".join(list(unknown)[:4]) + (" and others" if len(unknown) > 4 else "")
        notes.append(f"not shown: {count:,} spans of unknown categories ({names}), {total / 1e6:.3g} ms in all")
    return notes


def _when(trace: Trace, rows: Rows) -> Stretches:
    return Stretches.union(trace.events.start[rows], trace.events.end_of(rows))
