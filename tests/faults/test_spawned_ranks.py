"""Ranks that a script spawns itself, with processes that are killed among them: one run, and nothing logged is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import RunFolder

RANKS = 3
SCRIPT = """
import multiprocessing, os, signal, sys
import stepscope

def rank(number, size, doomed, gate, counts):
    os.environ.update(RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE=str(size), LOCAL_WORLD_SIZE=str(size),
                      MASTER_ADDR="localhost", MASTER_PORT="29501")
    run = stepscope.init(project="ddp", system=False, git=False, console=False)
    gate.wait()
    for step in range(300):
        run.log({"loss": number + step / 1024}, step=step)
        counts[number] = step + 1
        if number == doomed and step == 150:
            os.kill(os.getpid(), signal.SIGKILL)
    run.finish()

if __name__ == "__main__":
    method, size, doomed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    context = multiprocessing.get_context(method)
    gate, counts = context.Barrier(size), context.Array("i", size)
    ranks = [context.Process(target=rank, args=(n, size, doomed, gate, counts)) for n in range(size)]
    for one in ranks: one.start()
    for one in ranks: one.join()
    print(*counts)
"""


@pytest.mark.parametrize(("method", "doomed"), [("spawn", 0), ("spawn", 2), ("fork", 1)])
def test_spawned_ranks_share_a_run_and_outlive_one_that_is_killed(tmp_path: Path, method: str, doomed: int) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    environment = {**os.environ, "STEPSCOPE_DIR": str(tmp_path / "runs"), "STEPSCOPE_QUIET": "1"}
    command = [sys.executable, str(tmp_path / "train.py"), method, str(RANKS), str(doomed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    counts = [int(count) for count in done.stdout.split()]
    assert counts == [151 if number == doomed else 300 for number in range(RANKS)]
    (path,) = run_folders(tmp_path / "runs")
    found = sorted(points_of(stepscope.run(path)))
    assert found == sorted(number + step / 1024 for number, count in enumerate(counts) for step in range(count))


def points_of(run: RunFolder) -> list[float]:
    """The losses of all ranks."""
    return [value for rank in range(RANKS) for value in run.series("loss", rank=rank).values.tolist()]
