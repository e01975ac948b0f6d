"""Status is derived from files and from what the reading machine knows; nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from stepscope.records import End, FileHeader
from stepscope.runs.read.attempts import attempts_of, time_spent
from stepscope.runs.read.status import LogState, Machine, Standing, derive

NOW = 10_000.0


def state(
    beat: float | None = NOW, end: str | None = None, watched: float = 0.0, moved: bool = False, **header: Any
) -> LogState:
    fields = {
        "run_id": "r",
        "file_id": "f",
        "host": "here",
        "pid": 7,
        "pid_started": 500.0,
        "boot_id": "b1",
        "base_time": 1000.0,
        **header,
    }
    error = "ValueError: no" if end == "failed" else None
    ended = End(time=NOW - 1, status=end, error=error, traceback="Traceback …" if error else None) if end else None
    return LogState(FileHeader(**fields), beat, ended, watched, moved)


def machine(started: float | None = None, host: str = "here", boot_id: str = "b1", now: float = NOW) -> Machine:
    return Machine(host, boot_id, lambda: now, lambda pid: started)


def status(*states: LogState, on: Machine | None = None) -> str:
    return derive(states, on or machine(), created=1000.0).status


@pytest.mark.parametrize("end", ["finished", "stopped", "preempted", "failed"])
def test_an_end_says_how_it_ended(end: str) -> None:
    standing = derive([state(end=end)], machine(), 1000.0)
    assert standing.status == end
    assert standing.ended == NOW - 1


def test_a_failure_comes_with_its_error() -> None:
    standing = derive([state(end="failed")], machine(), 1000.0)
    assert (standing.detail, standing.error, standing.traceback) == ("ValueError: no", "ValueError: no", "Traceback …")


def test_a_fresh_heartbeat_is_running_even_where_the_process_cannot_be_seen() -> None:
    assert status(state(NOW - 29)) == "running"  # a container's pid means nothing outside
    assert status(state(NOW - 29, host="elsewhere")) == "running"


def test_the_header_is_the_first_sign_of_life() -> None:
    assert status(state(None, base_time=NOW - 5)) == "running"


def test_without_a_heartbeat_the_process_is_asked() -> None:
    old = state(NOW - 31)
    assert status(old, on=machine(started=500.0)) == "running"
    standing = derive([old], machine(started=None), 1000.0)
    assert standing == Standing(
        "killed",
        "its process 7 is gone without an end record; last sign of life 31 seconds ago",
        heartbeat=NOW - 31,
        ended=NOW - 31,
    )


def test_a_reused_pid_is_not_taken_for_the_process() -> None:
    assert status(state(NOW - 100), on=machine(started=9_990.0)) == "killed"
    assert status(state(NOW - 100), on=machine(started=500.9)) == "running"


def test_after_a_reboot_it_was_killed() -> None:
    assert status(state(NOW - 100), on=machine(started=500.0, boot_id="b2")) == "killed"


def test_another_machine_cannot_be_asked() -> None:
    standing = derive([state(NOW - 100, host="gpu-7")], machine(), 1000.0)
    assert standing.status == "lost"
    assert "gpu-7" in standing.detail


def test_the_interval_of_the_writer_counts() -> None:
    assert status(state(NOW - 100, host="gpu-7", heartbeat_s=60.0)) == "running"
    assert status(state(NOW - 100, host="gpu-7", heartbeat_s=30.0)) == "lost"


def test_a_clock_that_is_ahead_does_not_keep_a_dead_run_alive() -> None:
    ahead = {"beat": NOW + 3600, "host": "nfs-9"}
    assert status(state(**ahead)) == "running"
    assert status(state(**ahead, watched=20.0)) == "running"
    assert status(state(**ahead, watched=31.0)) == "lost"


def test_a_clock_that_is_behind_does_not_bury_a_live_run() -> None:
    behind = {"beat": NOW - 3600, "host": "nfs-9"}
    assert status(state(**behind)) == "lost"  # all we know at the first look
    assert status(state(**behind, watched=5.0)) == "lost"  # looking twice is no sign of life
    assert status(state(**behind, watched=5.0, moved=True)) == "running"
    assert status(state(**behind, watched=40.0, moved=True)) == "lost"


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        (["finished", "finished"], "finished"),
        (["finished", None], "running"),
        (["stopped", None], "stopped"),
        (["preempted", "stopped"], "preempted"),
        (["failed", "preempted"], "failed"),
    ],
)
def test_with_several_ranks_the_worst_wins(ranks: list[str | None], expected: str) -> None:
    states = [state(end=end, rank=rank, pid=rank + 7) for rank, end in enumerate(ranks)]
    assert status(*states) == expected
    assert status(*reversed(states)) == expected


def test_of_several_failures_the_first_is_the_reason() -> None:
    def failed(rank: int, error: str, at: float) -> LogState:
        one = state(rank=rank, pid=rank + 7)
        return LogState(one.header, one.heartbeat, End(time=at, status="failed", error=error))

    lost = failed(0, "RuntimeError: Connection closed by peer", NOW - 1)
    standing = derive([lost, failed(1, "ValueError: no", NOW - 2), state(rank=2, pid=9)], machine(), 1000.0)
    assert (standing.status, standing.rank, standing.error) == ("failed", 1, "ValueError: no")
    assert standing.ended == NOW - 1


def test_a_killed_rank_is_worse_than_a_lost_one_and_is_named() -> None:
    lost = state(NOW - 100, host="away", rank=0)
    killed = state(NOW - 200, rank=1)
    standing = derive([lost, killed], machine(), 1000.0)
    assert standing.status == "killed"
    assert standing.rank == 1
    assert standing.detail.startswith("rank 1: ")
    assert standing.heartbeat == NOW - 100


def test_only_the_newest_attempt_counts() -> None:
    assert status(state(end="failed"), state(attempt=1, pid=8)) == "running"
    assert status(state(NOW - 500), state(attempt=1, pid=8, end="finished")) == "finished"


def test_workers_samplers_and_edits_do_not_keep_a_run_alive() -> None:
    dead = state(NOW - 100)
    for role in ("worker", "system", "edit"):
        assert status(dead, state(NOW, role=role, pid=9)) == "killed"


def test_all_segments_of_a_process_speak_for_it() -> None:
    first = state(NOW - 400, segment=0)
    assert status(first, state(NOW - 1, segment=1)) == "running"
    assert status(first, state(NOW - 90, segment=1, end="finished")) == "finished"


def test_a_run_that_wrote_nothing_is_starting_then_lost() -> None:
    assert derive([], machine(), created=NOW - 10).status == "running"
    assert derive([], machine(), created=NOW - 100).status == "lost"


def test_attempts_are_listed_with_their_ends() -> None:
    states = [
        state(1500.0, base_time=1000.0),
        state(2600.0, base_time=2000.0, attempt=1, pid=8, first_step=50, segment=0),
        state(NOW - 5, base_time=2500.0, attempt=1, pid=8, first_step=50, segment=1),
    ]
    first, second = attempts_of(states, machine(started=500.0), 990.0)
    assert (first.attempt, first.status, first.started, first.seen) == (0, "killed", 1000.0, 1500.0)
    assert (second.attempt, second.status, second.started, second.seen, second.first_step) == (
        1,
        "running",
        2000.0,
        NOW - 5,
        50,
    )


def test_the_duration_leaves_out_the_pause_before_a_resume() -> None:
    states = [state(1500.0, base_time=1000.0), state(NOW - 5, base_time=2000.0, attempt=1, pid=8)]
    found = attempts_of(states, machine(), 990.0)
    standing = derive(states, machine(), 990.0)
    assert time_spent(found, standing, created=990.0, now=NOW) == (1500 - 990) + (NOW - 2000)
