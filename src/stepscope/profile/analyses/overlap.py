"""How much communication is hidden behind computation, and how much of it the step has to wait for."""

from __future__ import annotations

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.analyses.communication import collectives_by_rank
from stepscope.profile.collectives import Collectives
from stepscope.profile.profile import Profile
from stepscope.profile.trace.intervals import Stretches
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.trace import Trace
from stepscope.records.profile import Check, Column, Sheet


@analysis("overlap", view="ranks", of="ranks")
def overlap(profile: Profile) -> Sheet | None:
    """Communication hidden behind computation and exposed, on each rank."""
    by_rank = collectives_by_rank(profile)
    if not by_rank:
        return None
    rows, checks = [], []
    for rank, found in by_rank.items():
        trace = profile.trace(rank)
        assert trace is not None
        talking = Stretches.union(found.start, found.end)
        work = computing(trace, found)
        hidden = int(work.within(talking.begin, talking.end).sum())
        exposed = talking.total - hidden
        rows.append(
            [rank, talking.total, hidden, exposed, hidden / talking.total if talking.total else None, work.total]
        )
        both = (talking | work).total
        checks.append(
            Check(
                name=f"rank {rank}: computing plus exposed is the busy time",
                got=work.total + exposed,
                expected=both,
                ok=work.total + exposed == both,
            )
        )
    where = "on the device" if all(found.on_device for found in by_rank.values()) else "in threads of the host"
    return Sheet(
        id="overlap",
        title="Communication and computation",
        columns=[
            Column(key="rank", label="rank", unit="count"),
            Column(key="communication_ns", label="communication", unit="ns", help="Time with a collective under way."),
            Column(key="hidden_ns", label="hidden", unit="ns", help="Of it, time in which the rank also computed."),
            Column(key="exposed_ns", label="exposed", unit="ns", help="Of it, time in which nothing else happened."),
            Column(key="hidden_share", label="hidden %", unit="share", help="Hidden over communication."),
            Column(key="computation_ns", label="computation", unit="ns", help="Time with other work under way."),
        ],
        rows=rows,
        checks=checks,
        notes=[f"collectives run {where}"],
    )


def computing(trace: Trace, found: Collectives) -> Stretches:
    """When a rank computed: kernels that are not collectives, or on a CPU operators of threads without collectives."""
    events = trace.events
    if found.on_device:
        rows = np.flatnonzero((trace.kind == Kind.KERNEL.value) & ~trace.is_collective)
    else:
        elsewhere = ~np.isin(events.lane, np.unique(events.lane[found.rows]))
        outermost = (trace.kind == Kind.OP.value) & (trace.op_parent < 0)
        waits = events.named(lambda name: name.startswith("c10d::") or name == "aten::wait_tensor")
        rows = np.flatnonzero(outermost & elsewhere & ~waits)
        if trace.has_device:
            rows = np.concatenate([rows, trace.device_rows])
    return Stretches.union(events.start[rows], events.end_of(rows))
