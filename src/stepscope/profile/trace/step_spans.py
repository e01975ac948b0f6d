"""The training steps of a trace: marked by the profiler, by our own phases, or inferred from what repeats."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from stepscope.profile.trace.trace import Trace

__all__ = ["StepSpan", "find_steps"]

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
    from stepscope.profile.trace.trace import Kind

    rows = np.flatnonzero(spans & trace.are(Kind.ANNOTATION, Kind.OTHER, Kind.OP))
    if len(rows):
        rows = rows[np.argsort(events.start[rows], kind="stable")]
        by_number: dict[int, StepSpan] = {}
        for row in rows.tolist():
            number = marks[int(events.name[row])]
            by_number.setdefault(
                number, StepSpan(number, int(events.start[row]), int(events.start[row] + events.dur[row]))
            )
        return sorted(by_number.values(), key=lambda step: step.begin_ns)
    ends = np.flatnonzero(events.named(_OPTIMIZER.match) & (trace.kind == Kind.ANNOTATION.value))
    edges = np.sort((events.start + events.dur)[ends])
    if len(edges) >= 2:
        begins = [trace.begin_ns, *edges.tolist()[:-1]]
        return [StepSpan(i, int(b), int(e), inferred=True) for i, (b, e) in enumerate(zip(begins, edges, strict=True))]
    if trace.end_ns > trace.begin_ns:
        return [StepSpan(0, trace.begin_ns, trace.end_ns, inferred=True)]
    return []
