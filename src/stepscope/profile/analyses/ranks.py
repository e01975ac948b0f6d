"""All ranks beside each other: whose step is long, and what fills it."""

from __future__ import annotations

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.communication import collectives_by_rank
from stepscope.profile.analyses.overlap import computing
from stepscope.profile.clocks import align
from stepscope.profile.collectives import Collectives
from stepscope.profile.profile import Profile
from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet


@analysis("ranks", view="ranks", of="ranks")
def ranks(profile: Profile) -> Sheet | None:
    """Each rank's mean step: computation, exposed communication, copies, the rest."""
    traces = {rank: trace for rank in profile.ranks if (trace := profile.trace(rank)) is not None and trace.steps}
    if len(traces) < 2:
        return None
    by_rank = collectives_by_rank(profile)
    rows = [_row(rank, trace, by_rank.get(rank)) for rank, trace in traces.items()]
    walls = [row[2] for row in rows]
    notes = align(profile, by_rank).notes
    if max(walls) > 1.05 * min(walls):
        slow, fast = rows[int(np.argmax(walls))][0], rows[int(np.argmin(walls))][0]
        notes.append(f"rank {slow}'s mean step is {max(walls) / min(walls):.2f} times that of rank {fast}")
    return Sheet(
        id="ranks",
        title="Ranks",
        columns=[
            Column(key="rank", label="rank", unit="count"),
            Column(key="steps", label="steps", unit="count", help="In the profile."),
            Column(key="step_ns", label="step", unit="ns", help="The mean step, until its work on the device is done."),
            Column(key="computation_ns", label="computation", unit="ns", help="A step's time with work under way."),
            Column(
                key="exposed_ns", label="exposed comm.", unit="ns", help="Communication with nothing else under way."
            ),
            Column(key="copies_ns", label="copies", unit="ns", help="Only copies and fills of the device under way."),
            Column(
                key="rest_ns", label="rest", unit="ns", help="None of these: the device, or the thread, stands idle."
            ),
            Column(key="data_ns", label="data wait", unit="ns", help="Waiting for a DataLoader; part of the rest."),
        ],
        rows=rows,
        checks=[
            Check(
                name="parts sum to the step",
                got=sum(sum(row[3:7]) for row in rows),
                expected=sum(walls),
                ok=abs(sum(sum(row[3:7]) for row in rows) - sum(walls)) <= len(rows),
            )
        ],
        notes=notes,
    )


def _row(rank: int, trace: Trace, found: Collectives | None) -> list[int]:
    events = trace.events
    begin = np.array([step.begin_ns for step in trace.device_steps])
    end = np.array([step.end_ns for step in trace.device_steps])
    if found is None:
        work, talk = _work(trace), Stretches.union(begin[:0], begin[:0])
    else:
        work, talk = computing(trace, found), Stretches.union(found.start, found.end)
    copies = trace.rows(Kind.MEMCPY, Kind.MEMSET)
    moving = Stretches.union(events.start[copies], events.end_of(copies))
    loading = np.flatnonzero(
        (trace.kind == Kind.ANNOTATION.value) & events.named(lambda name: name.startswith("enumerate(DataLoader)"))
    )
    waiting = Stretches.union(events.start[loading], events.end_of(loading))
    steps = len(begin)

    def mean(stretches: Stretches) -> int:
        return int(stretches.within(begin, end).sum()) // steps

    computed, busy, all_three = mean(work), mean(work | talk), mean(work | talk | moving)
    wall = int((end - begin).sum()) // steps
    return [rank, steps, wall, computed, busy - computed, all_three - busy, wall - all_three, mean(waiting)]


def _work(trace: Trace) -> Stretches:
    events = trace.events
    if trace.has_device:
        rows = trace.rows(Kind.KERNEL)
    else:
        rows = np.flatnonzero((trace.kind == Kind.OP.value) & (trace.op_parent < 0))
    return Stretches.union(events.start[rows], events.end_of(rows))
