"""Real jobs under torchrun: a planted hang is explained with ranks and lines, and a healthy job says nothing."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from stepscope.diagnose.hangs import read_hang
from stepscope.launch.hang_watch import HangWatch
from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import open_run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="gloo and signals of POSIX")
START = """
import time, torch, torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, model = dist.get_rank(), torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(6):
    optimizer.zero_grad()
    model(torch.randn(4, 8)).pow(2).mean().backward()
    optimizer.step()
"""
HANG = START + "if rank == 0:\n    dist.barrier()  # cause\nelse:\n    time.sleep(600)\n"


def torchrun(folder: Path, code: str, *ours: str, **more: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(code)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = ["torchrun", "--nproc-per-node", "2", "--master-port", str(port), "train.py"]
    command = [sys.executable, "-m", "stepscope", "run", *ours, *launcher]
    environment = {**os.environ, "STEPSCOPE_DIR": str(folder / "runs"), **more}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280, check=False
    )


def test_a_barrier_for_one_rank_is_explained_and_ended_on_request(tmp_path: Path) -> None:
    done = torchrun(tmp_path, HANG, "--kill-hang", STEPSCOPE_HANG_S="3")
    line = HANG.splitlines().index("    dist.barrier()  # cause") + 1
    assert done.returncode != 0
    assert f"rank 0 waits in barrier #0 (train.py:{line}); rank 1 is in the script (train.py:{line + 2})" in " ".join(
        done.stderr.split()
    ), done.stderr
    (path,) = run_folders(tmp_path / "runs")
    run = open_run(path)
    assert [(one.rule, one.line) for one in run.findings if one.severity == "error"] == [("run.hang", line)]
    assert run.status == "failed"
    assert run.standing.error is not None
    assert run.ranks == [0, 1]
    hang = read_hang(path)
    assert hang is not None
    assert [one.kind for one in hang.ranks] == ["collective", "python"]
    assert [one.name for one in hang.ranks[0].flights] in ([], ["gloo:barrier"])  # only newer torch records gloo


@pytest.mark.nightly
def test_a_healthy_job_whose_ranks_wait_for_a_slow_one_says_nothing(tmp_path: Path) -> None:
    slow = (
        START
        + "if rank == 1:\n    end = time.time() + 4\n    while time.time() < end: sum(range(1000))\ndist.barrier()\n"
    )
    done = torchrun(tmp_path, slow + "dist.destroy_process_group()\n", STEPSCOPE_HANG_S="2")
    assert done.returncode == 0, done.stderr
    assert "hang" not in done.stderr
    (path,) = run_folders(tmp_path / "runs")
    run = open_run(path)
    assert (run.status, run.ranks, [one.rule for one in run.findings if one.rule == "run.hang"]) == (
        "finished",
        [0, 1],
        [],
    )


@pytest.mark.parametrize(("steps", "patience_s"), [(0, 300.0), (1, 300.0), (21, 20.0)])
def test_steps_between_two_looks_tell_how_long_a_step_takes(steps: int, patience_s: float) -> None:
    watcher = SimpleNamespace(step=0, batches=0, steps=SimpleNamespace(backward_count=0), now=None)
    watcher.collectives = SimpleNamespace(count=0, now=None)
    watch = HangWatch(lambda: watcher, lambda: None, lambda hang: None)  # type: ignore[arg-type, return-value]
    watch._notice_progress()
    watcher.step = steps
    watch._notice_progress()
    watch._is_busy = False
    assert watch._patience_s == patience_s
