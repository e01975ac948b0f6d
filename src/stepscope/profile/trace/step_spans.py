"""The training steps of a trace: marked by the profiler, by our own phases, or inferred from what repeats.

The marks are the host's; `device_spans` are the same steps on the device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepscope.profile.trace.kinds import Kind

if TYPE_CHECKING:
    from stepscope.profile.trace.trace import Trace

_MARK = re.compile(r"^(?:ProfilerStep|StepscopeStep)\s*#?(\d+)")
_OPTIMIZER = re.compile(r"^Optimizer\.step#")


@dataclass(frozen=True)
class StepSpan:
    number: int
    begin_ns: int
    end_ns: int
    inferred: bool = False

    @property
    def wall_ns(self) -> int:
        return self.end_ns - self.begin_ns


def find_steps(trace: Trace) -> list[StepSpan]:
    """`ProfilerStep#n` spans; without them from one optimizer step to the next; without those the whole trace."""
    events = trace.events
    marks = {index: int(found[1]) for index, name in enumerate(events.names) if (found := _MARK.match(name))}
    spans = events.has_name(list(marks)) & (events.ph == ord("X")) & (events.dur > 0)
    # A mark is on the host and again on each device's stream; the host's is the step.
    rows = np.flatnonzero(spans & trace.are(Kind.ANNOTATION, Kind.OTHER, Kind.OP))
    if len(rows):
        rows = rows[np.argsort(events.start[rows], kind="stable")]
        by_number: dict[int, StepSpan] = {}
        for row in rows.tolist():
            number = marks[int(events.name[row])]
            by_number.setdefault(
                number, StepSpan(number, int(events.start[row]), int(events.start[row] + events.dur[row]))
            )
        return list(_apart(sorted(by_number.values(), key=lambda step: step.begin_ns)))
    ends = np.flatnonzero(events.named(_OPTIMIZER.match) & (trace.kind == Kind.ANNOTATION.value))
    edges = np.sort((events.start + events.dur)[ends])
    if len(edges) >= 2:
        begins = [trace.begin_ns, *edges.tolist()[:-1]]
        return [StepSpan(i, int(b), int(e), inferred=True) for i, (b, e) in enumerate(zip(begins, edges, strict=True))]
    if trace.end_ns > trace.begin_ns:
        return [StepSpan(0, trace.begin_ns, trace.end_ns, inferred=True)]
    return []


def _apart(steps: list[StepSpan]) -> Iterator[StepSpan]:
    """Steps without the time that an earlier one has already: marks of two threads, else it would count twice."""
    over = -1
    for step in steps:
        begin = max(step.begin_ns, over)
        if step.end_ns > begin:
            yield StepSpan(step.number, begin, step.end_ns)
            over = step.end_ns


def device_spans(trace: Trace) -> list[StepSpan]:
    """The steps as devices see them: each ends when the work that was launched until the host's mark is done.

    The host runs ahead of its devices. What it launched in its last step runs after the last mark, and in the first
    moments of every step a device still works on the step before.
    """
    if not trace.has_device:
        return trace.steps
    work = trace.device_rows
    order = np.argsort(trace.launched_ns, kind="stable")
    launched = trace.launched_ns[order]
    done = np.maximum.accumulate(trace.events.end_of(work)[order])

    def finished(mark: int) -> int:
        before = int(np.searchsorted(launched, mark))
        return max(mark, int(done[before - 1])) if before else mark

    return [
        StepSpan(step.number, finished(step.begin_ns), finished(step.end_ns), step.inferred) for step in trace.steps
    ]
