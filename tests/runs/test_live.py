"""Eight processes write at once and a reader follows all of them: nothing lost, nothing seen twice."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from stepscope.records import End
from stepscope.runs.read.folder import RunFolder, open_run

from .written import in_child, new_run, quiet_writer, wait_for

RANKS = 8
ROWS = 1500


def write_as(path: Path, rank: int) -> None:
    writer = quiet_writer(path, rank=rank)
    keyset = writer.keyset(("loss", "acc"))
    for step in range(ROWS):
        keyset.write(step, (rank + step / 10, -step))
        if step % 300 == 0:
            time.sleep(0.002)
    writer.close(End(time=time.time(), status="finished"))


def check(run: RunFolder, rank: int, seen: dict[int, int]) -> None:
    series = run.series("loss", rank)
    assert len(series) >= seen.get(rank, 0)
    np.testing.assert_array_equal(series.steps, np.arange(len(series)))
    np.testing.assert_array_equal(series.values, rank + np.arange(len(series)) / 10)
    seen[rank] = len(series)


def test_a_reader_follows_eight_ranks_of_one_run(store: Path) -> None:
    path = new_run(store)
    run = open_run(path)
    children = [in_child(lambda rank=rank: write_as(path, rank)) for rank in range(RANKS)]
    seen: dict[int, int] = {}
    deadline = time.monotonic() + 300
    while sum(seen.values()) < RANKS * ROWS and time.monotonic() < deadline:
        run.refresh()
        for rank in run.ranks:
            if run.summaries(rank):
                check(run, rank, seen)
        if all(_is_done(pid) for pid in children) and not run.refresh():
            break
    assert [wait_for(pid) for pid in children] == [0] * RANKS
    run.refresh()
    assert run.ranks == list(range(RANKS))
    for rank in range(RANKS):
        check(run, rank, seen)
    assert seen == dict.fromkeys(range(RANKS), ROWS)
    assert run.status == "finished"
    assert not run.damage


def _is_done(pid: int) -> bool:
    """Whether the child has ended; it stays to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def test_a_reader_follows_eight_runs_of_one_store(store: Path) -> None:
    paths = [new_run(store) for _ in range(8)]
    children = [in_child(lambda path=path: write_as(path, 0)) for path in paths]
    runs = [open_run(path) for path in paths]
    seen: list[dict[int, int]] = [{} for _ in runs]
    for _ in range(2000):
        for run, counts in zip(runs, seen, strict=True):
            run.refresh()
            if run.metrics():
                check(run, 0, counts)
        if all(counts.get(0) == ROWS for counts in seen):
            break
    assert [wait_for(pid) for pid in children] == [0] * len(children)
    for run, counts in zip(runs, seen, strict=True):
        run.refresh()
        check(run, 0, counts)
        assert counts == {0: ROWS}
        assert run.status == "finished"
