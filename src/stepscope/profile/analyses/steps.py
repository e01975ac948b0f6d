"""What each step's time went to, as the device sees it: compute, communication, copies, and why it stood idle."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.outside import busy_time, notes_on_outside, outside_ns
from stepscope.profile.trace.ranges import collective_rows, data_rows, is_communication
from stepscope.profile.trace.step_parts import Cover, cut_steps
from stepscope.profile.trace.trace import Rows, Trace
from stepscope.records.profile import Check, Part, StepParts

_OTHER = Part(key="other", label="Other", help="Neither the device nor an operator was at work: Python, or waiting.")

_ON_DEVICE = ("kernel", "communication", "memcpy", "memset")


@analysis("steps", view="overview")
def steps(trace: Trace) -> StepParts | None:
    """Each step's time: kernels, exposed communication, copies, and what the host did while the device stood idle."""
    if not trace.steps:
        return None
    covers = _device_covers(trace) if trace.has_device else _host_covers(trace)
    notes = [] if trace.has_device else ["no work on an accelerator in this trace: the parts are the host's"]
    notes += notes_on_outside(trace)
    found = cut_steps("steps", "Where each step goes", trace.device_steps, covers, _OTHER, notes)
    return replace(found, checks=[*found.checks, _all_of_it(trace, found)]) if trace.has_device else found


def _all_of_it(trace: Trace, found: StepParts) -> Check:
    """What the steps show of the device's work, and what is named as outside, against the raw events."""
    shown = [at for at, part in enumerate(found.parts) if part.key in _ON_DEVICE]
    inside = sum(row[at] for row in found.parts_ns for at in shown)
    outside, raw = outside_ns(trace), busy_time(trace).total
    detail = f"{inside / 1e6:.6g} ms in the steps, {outside / 1e6:.6g} ms outside"
    name = "device time in and outside the steps is all of it"
    return Check(name=name, got=inside + outside, expected=raw, ok=inside + outside == raw, detail=detail)


def _when(trace: Trace, rows: Rows) -> Stretches:
    begin = trace.events.start[rows]
    return Stretches.union(begin, begin + trace.events.dur[rows])


def _device_covers(trace: Trace) -> list[Cover]:
    kind, collective = trace.kind, trace.is_collective
    return [
        Cover("kernel", "Kernels", "The device computes.",
              _when(trace, np.flatnonzero((kind == Kind.KERNEL.value) & ~collective))),
        Cover("communication", "Communication", "Devices exchange data while nothing is computed: exposed.",
              _when(trace, collective_rows(trace))),
        Cover("memcpy", "Copies", "Copies to, from and on the device, while it computes nothing.",
              _when(trace, trace.rows(Kind.MEMCPY))),
        Cover("memset", "Fills", "Memory is set to a value, while the device computes nothing.",
              _when(trace, trace.rows(Kind.MEMSET))),
        Cover("data", "Data loading", "The device is idle while the loop waits for the next batch.",
              _when(trace, data_rows(trace))),
        Cover("runtime", "Runtime calls", "The device is idle while the host is in its runtime: launches, waits.",
              _when(trace, _calls(trace))),
        Cover("host", "Host operators", "The device is idle while the host works in operators.",
              _when(trace, _outer_ops(trace))),
    ]  # fmt: skip


def _host_covers(trace: Trace) -> list[Cover]:
    named = trace.events.named(is_communication)
    speaking = np.flatnonzero(named & trace.are(Kind.OP, Kind.ANNOTATION) & ~trace.is_alone)
    covers = [Cover("data", "Data loading", "The loop waits for the next batch.", _when(trace, data_rows(trace)))]
    if len(speaking):
        covers.append(Cover("communication", "Communication", "Processes exchange data.", _when(trace, speaking)))
    covers.append(
        Cover("host", "Operators", "At least one thread works in operators.", _when(trace, _outer_ops(trace)))
    )
    return covers


def _calls(trace: Trace) -> Rows:
    """Runtime calls of threads that also run operators; others only watch (NCCL's watchdog asks all the time)."""
    working = np.zeros(len(trace.events.lanes), bool)
    working[trace.events.lane[trace.kind == Kind.OP.value]] = True
    return np.flatnonzero((trace.kind == Kind.RUNTIME.value) & working[trace.events.lane])


def _outer_ops(trace: Trace) -> Rows:
    return np.flatnonzero((trace.kind == Kind.OP.value) & (trace.op_parent < 0) & (trace.events.dur > 0))
