"""The starts of a run: each process of each attempt, how it ended, and the total time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stepscope.records import Status
from stepscope.runs.read.status import LogState, Machine, Standing, of_process


@dataclass(frozen=True)
class Attempt:
    """One start of the run's process on one rank."""

    attempt: int
    rank: int
    host: str
    pid: int
    started: float
    seen: float
    """When it ended or last wrote."""
    status: Status
    first_step: int | None = None


def attempts_of(states: Iterable[LogState], machine: Machine, created: float) -> list[Attempt]:
    """All starts, in order. An earlier attempt without an end was killed, since a later one exists."""
    groups: dict[tuple[int, int, str, int, float], list[LogState]] = {}
    for state in states:
        header = state.header
        if header.role == "run":
            key = (header.attempt, header.rank, header.host, header.pid, header.pid_started)
            groups.setdefault(key, []).append(state)
    newest = max((key[0] for key in groups), default=0)
    found = []
    for (attempt, rank, host, pid, _started), files in sorted(groups.items()):
        standing = of_process(files, machine)
        status = standing.status
        if attempt < newest and status in ("running", "lost"):
            status = "killed"
        first_steps = [state.header.first_step for state in files if state.header.first_step is not None]
        found.append(
            Attempt(
                attempt=attempt,
                rank=rank,
                host=host,
                pid=pid,
                started=min(state.header.base_time for state in files),
                seen=standing.ended or standing.heartbeat or created,
                status=status,
                first_step=min(first_steps, default=None),
            )
        )
    return found


def time_spent(attempts: list[Attempt], standing: Standing, created: float, now: float) -> float:
    """Seconds over all attempts. The first counts from the run's creation, the newest up to now."""
    if not attempts:
        return max(0.0, now - created) if standing.status == "running" else 0.0
    total = 0.0
    newest = attempts[-1].attempt
    for number in sorted({attempt.attempt for attempt in attempts}):
        own = [attempt for attempt in attempts if attempt.attempt == number]
        start = min(attempt.started for attempt in own)
        stop = max(attempt.seen for attempt in own)
        if number == newest and standing.status == "running":
            stop = max(now, stop)
        total += max(0.0, stop - (min(created, start) if number == 0 else start))
    return total
