"""A run's status, derived from its files and the local machine. docs/design/001 has the rule.

`derive` is a pure function of the files' headers, ends and heartbeats and a `Machine`, which represents the reading
host. Nothing is inferred from a missing field: only an `End` makes a run finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stepscope.common import clocks
from stepscope.records import End, FileHeader, Status
from stepscope.runs.format import writer_identity

_WORST_FIRST: tuple[Status, ...] = ("failed", "killed", "lost", "preempted", "stopped", "running", "finished")
_INTERVALS = 3
"""Number of missing heartbeats before the process is checked."""
_SAME_START_S = 2.0
"""Tolerance between two readings of a process's start time: clock ticks and a rounded boot time."""


@dataclass(frozen=True)
class LogState:
    """One log file's evidence about whether its writer is alive."""

    header: FileHeader
    heartbeat: float | None = None
    """Newest sign of life in the file, by the writer's clock."""
    end: End | None = None
    watched_s: float = 0.0
    """How long ago that sign of life was first seen, by the reader's clock."""
    moved: bool = False
    """Whether it arrived while we were watching, and so was fresh when first seen."""


@dataclass(frozen=True)
class Machine:
    """The reading machine. `started(pid)` is when that process started, or None if there is none."""

    host: str
    boot_id: str
    now: Callable[[], float]
    started: Callable[[int], float | None]


@dataclass(frozen=True)
class Standing:
    """A run's status with its reason."""

    status: Status
    detail: str
    """One line: the error, or why this status was derived."""
    heartbeat: float | None = None
    ended: float | None = None
    """When it ended or last wrote; None while it runs."""
    error: str | None = None
    traceback: str | None = None
    exit_code: int | None = None
    rank: int | None = None
    """The rank that determines the status, if there are several."""


def this_machine() -> Machine:
    """The real machine."""
    return Machine(writer_identity.host_name(), writer_identity.boot_id(), clocks.time, _started)


def _started(pid: int) -> float | None:
    import psutil

    if not psutil.pid_exists(pid):
        return None
    return writer_identity.process_started(pid)


def _processes(states: list[LogState]) -> list[list[LogState]]:
    """The files of each process of the newest attempt, by rank."""
    newest = max(state.header.attempt for state in states)
    processes: dict[tuple[int, str, int, float], list[LogState]] = {}
    for state in states:
        header = state.header
        if header.attempt == newest:
            key = (header.rank, header.host, header.pid, header.pid_started)
            processes.setdefault(key, []).append(state)
    return [files for _, files in sorted(processes.items())]


def derive(states: Iterable[LogState], machine: Machine, created: float) -> Standing:
    """The status of a run: the worst among the training processes of the newest attempt."""
    own = [state for state in states if state.header.role == "run"]
    if not own:
        return _without_files(machine, created)
    standings = [of_process(files, machine) for files in _processes(own)]
    worst = min(standings, key=_how_bad)
    beats = [standing.heartbeat for standing in standings if standing.heartbeat is not None]
    ends = [standing.ended for standing in standings if standing.ended is not None]
    of_several = len(standings) > 1
    return Standing(
        status=worst.status,
        detail=f"rank {worst.rank}: {worst.detail}" if of_several else worst.detail,
        heartbeat=max(beats, default=None),
        ended=None if worst.status == "running" else max(ends, default=None),
        error=worst.error,
        traceback=worst.traceback,
        exit_code=worst.exit_code,
        rank=worst.rank if of_several else None,
    )


def _how_bad(standing: Standing) -> tuple[int, float]:
    """Worst status first; among failed ranks the first to fail, since the others only lost their connection to it."""
    is_failed = standing.status == "failed" and standing.ended is not None
    return _WORST_FIRST.index(standing.status), (standing.ended or 0.0) if is_failed else 0.0


def of_process(files: list[LogState], machine: Machine) -> Standing:
    """The status of one process by its log files."""
    if not files[0].header.pid:  # imported from elsewhere: the newest import determines the status
        newest = max(files, key=lambda state: state.header.base_time).header.file_id.partition(".")[0]
        files = [state for state in files if state.header.file_id.partition(".")[0] == newest]
    header = max(files, key=lambda state: (state.header.segment, state.header.base_time)).header
    beat = max(max(state.heartbeat or 0.0, state.header.base_time) for state in files)
    ends = [(state.header.segment, state.end.time, state.end) for state in files if state.end is not None]
    if ends:
        end = max(ends, key=lambda one: one[:2])[2]
        return Standing(
            status=end.status,
            detail=end.error or _END_WORDS[end.status],
            heartbeat=beat,
            ended=end.time,
            error=end.error,
            traceback=end.traceback,
            exit_code=end.exit_code,
            rank=header.rank,
        )
    age = _age(machine.now() - beat, files, header.heartbeat_s)
    if age < _INTERVALS * max(header.heartbeat_s, 1.0):
        return Standing("running", "its heartbeat is fresh", beat, rank=header.rank)
    status, detail = _ask(header, machine)
    ago = _in_words(age)
    if status == "running":
        return Standing("running", f"no heartbeat for {ago}, but {detail}", beat, rank=header.rank)
    return Standing(status, f"{detail}; last sign of life {ago} ago", beat, ended=beat, rank=header.rank)


def _age(by_clocks: float, files: list[LogState], interval_s: float) -> float:
    """The age of a heartbeat when the writer's clock may disagree with the reader's.

    A heartbeat from the future means that the clocks differ: then only the watched time counts. Whatever the clocks
    say, a heartbeat that has just arrived is young.
    """
    watched = min(state.watched_s for state in files)
    if by_clocks < -interval_s:
        return watched
    moved = [state.watched_s for state in files if state.moved]
    return min([max(by_clocks, 0.0), *moved])


def _ask(header: FileHeader, machine: Machine) -> tuple[Status, str]:
    """What the machine knows about a process with an old heartbeat."""
    if header.host != machine.host or not header.host:
        return "lost", f"its machine {header.host or '(unnamed)'} cannot be reached from here"
    if header.boot_id != machine.boot_id:
        return "killed", f"{header.host} was restarted since"
    started = machine.started(header.pid)
    if started is None:
        return "killed", f"its process {header.pid} is gone without an end record"
    if header.pid_started and started and abs(started - header.pid_started) > _SAME_START_S:
        return "killed", f"its process {header.pid} is gone; another one has its number now"
    return "running", f"its process {header.pid} exists"


def _without_files(machine: Machine, created: float) -> Standing:
    """A run with only `meta.json`: its process is about to start, or never did."""
    age = machine.now() - created
    if age < _INTERVALS * FileHeader.__struct_defaults__[-1]:
        return Standing("running", "it is starting")
    return Standing("lost", f"it has written nothing since it was created {_in_words(age)} ago", ended=created)


_END_WORDS = {
    "finished": "it ended by itself",
    "stopped": "it was stopped by hand (Ctrl-C)",
    "preempted": "it was asked to end (SIGTERM)",
    "failed": "it ended with an error",
}


def _in_words(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} seconds"
