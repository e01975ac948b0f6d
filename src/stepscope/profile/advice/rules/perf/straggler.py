from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.straggler", needs="profile", device="gpu")
def straggler(run: Measured) -> Iterator[Tip]:
    """One rank is slower than the others, which wait for it in every step.

    Why it matters: collectives end when the last rank has come; all devices run at the pace of the slowest.

    What to do: look at that rank: more data or longer samples than the others, a shared or throttled device, a
    slower host, extra work (logging, checkpoints) on one rank.

    How it is found: what each rank does outside communication; one of them takes a twentieth of the step more
    than the median of the others.

    Bad:
        if rank == 0: save_pictures(model(x))    # in every step
    Good:
        if rank == 0 and step % 1000 == 0: save_pictures(model(x))
    """
    if len(run.profile.ranks) < 2 or run.rank != run.profile.ranks[0]:
        return
    own: dict[int, int] = {}
    for rank in run.profile.ranks:
        trace = run.trace_of(rank)
        if trace is not None and trace.has_device:
            work = DeviceWork(trace)
            own[rank] = work.step_ns - work.per_step(work.rows_of_collectives)
    if len(own) < 2:
        return
    slowest = max(own, key=lambda rank: own[rank])
    others = int(np.median([time for rank, time in own.items() if rank != slowest]))
    late = run.on_host(own[slowest] - others)
    if not run.step_ns or late / run.step_ns < 0.05:
        return
    yield Tip(
        where=None,
        message=f"rank {slowest} needs {late / 1e6:.1f} ms a step more than the others, and all wait for it",
        fix=f"look at what is different on rank {slowest}: its data, its device, work only it does",
        share=run.share(late),
        saving_ns=int(late),
        how="the slowest rank's own time against the median of the others",
        evidence={"rank": slowest, "own_ms": {str(rank): round(time / 1e6, 2) for rank, time in own.items()}},
        part="communication",
    )
