from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip
from stepscope.runs.read.slow_ranks import SLOW_PHASES

_SHARE, _LEAST_NS = 0.05, 1_000_000


@rule("perf.straggler", needs="profile")
def straggler(run: Measured) -> Iterator[Tip]:
    """One rank is slower than the others, which wait for it in every step.

    Why it matters: collectives end when the last rank has come; all devices run at the pace of the slowest.

    What to do: look at that rank: more data or longer samples than the others, a shared or throttled device, a
    slower host, extra work (logging, checkpoints) on one rank.

    How it is found: what each rank does outside communication; one of them takes a twentieth of the step more
    than the median of the others. Without a GPU the phases of the steps are compared, except for the backward pass, in
    which all ranks wait for the slowest.

    Bad:
        if rank == 0: save_pictures(model(x))    # in every step
    Good:
        if rank == 0 and step % 1000 == 0: save_pictures(model(x))
    """
    if len(run.profile.ranks) > 1 and run.rank == run.profile.ranks[0]:
        yield from _by_device(run) or _by_phase(run)


def _by_device(run: Measured) -> list[Tip]:
    own: dict[int, int] = {}
    for rank in run.profile.ranks:
        trace = run.trace_of(rank)
        if trace is not None and trace.has_device:
            work = DeviceWork(trace)
            own[rank] = work.step_ns - work.per_step(work.rows_of_collectives)
    if len(own) < 2:
        return []
    slowest = max(own, key=lambda rank: own[rank])
    others = int(np.median([time for rank, time in own.items() if rank != slowest]))
    late = run.on_host(own[slowest] - others)
    if not run.step_ns or late / run.step_ns < _SHARE:
        return []
    tip = Tip(
        where=None,
        message=f"rank {slowest} needs {late / 1e6:.1f} ms a step more than the others, and all wait for it",
        fix=f"look at what is different on rank {slowest}: its data, its device, work only it does",
        share=run.share(late),
        saving_ns=int(late),
        how="the slowest rank's own time against the median of the others",
        evidence={"rank": slowest, "own_ms": {str(rank): round(time / 1e6, 2) for rank, time in own.items()}},
        part="communication",
    )
    return [tip]


def _by_phase(run: Measured) -> list[Tip]:
    """The rank and the phase that are slowest, where the steps of several ranks were timed."""
    parts = {rank: one for rank in run.profile.ranks if (one := run.parts_of(rank))}
    found = []
    for phase, words in SLOW_PHASES.items():
        own = {rank: one.get(phase, 0) for rank, one in parts.items()}
        slowest = max(own, key=lambda rank: own[rank], default=0)
        others = [time for rank, time in own.items() if rank != slowest]
        late = own[slowest] - int(np.median(others)) if others else 0
        if late >= max(_LEAST_NS, _SHARE * run.step_ns):
            found.append((late, slowest, phase, words, own))
    if not found:
        return []
    late, slowest, phase, words, own = max(found)
    host = run.profile.facts(slowest).get("host")
    who = f"rank {slowest} ({host})" if host else f"rank {slowest}"
    others_ms = float(np.median([time for rank, time in own.items() if rank != slowest])) / 1e6
    tip = Tip(
        where=run.where(run.loader, "made", "iterated") if phase == "data" else None,
        message=f"{who} is slow in {words}: {own[slowest] / 1e6:.3g} ms per step, the other ranks {others_ms:.3g} ms; "
        "all wait for it in their backward pass",
        fix=f"look at what is different on rank {slowest}: its data, its machine, work only it does",
        share=run.share(late),
        saving_ns=int(late),
        how=f"the phase on rank {slowest} against the median of the others",
        evidence={
            "rank": slowest,
            "phase": phase,
            "ms": {str(rank): round(time / 1e6, 2) for rank, time in own.items()},
        },
        part="communication",
    )
    return [tip]
