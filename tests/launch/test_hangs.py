"""Real jobs under torchrun: a planted hang is explained with ranks and lines, and a healthy job says nothing."""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.diagnose.hangs import read_hang
from stepscope.launch.hang_watch import HangWatch
from stepscope.launch.rank_state import state_of
from stepscope.records.hang import Call, Hang, RankState
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
    assert list((path / "evidence").glob("0.*.gz"))  # though it was ended by force


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
    assert watch._patience_s(is_busy=False) == patience_s


def test_a_shorter_patience_is_shorter_before_the_first_step_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_HANG_S", "4")
    watch = HangWatch(lambda: None, lambda: None, lambda hang: None)
    assert watch._patience_s(is_busy=False) == 60


class Silent:
    """A channel on which nobody else is heard."""

    rank, size, is_open = 0, 2, True

    def __init__(self) -> None:
        self.said: dict[str, bytes] = {}
        self.counts: dict[str, int] = {}

    def put(self, key: str, message: bytes) -> None:
        self.said[key] = message

    def get(self, key: str) -> bytes | None:
        return self.said.get(key)

    def add(self, key: str, amount: int = 1) -> int:
        self.counts[key] = self.counts.get(key, 0) + amount
        return self.counts[key]

    def read(self, key: str) -> int:
        return self.add(key, 0)


def test_a_wait_before_the_first_step_is_shown_soon_and_reported_late(tmp_path: Path) -> None:
    told: list[Hang] = []
    watch = HangWatch(lambda: None, lambda: tmp_path, told.append)
    channel: Any = Silent()
    waits = RankState(rank=0, kind="collective", doing="barrier", number=0)
    for idle_s, is_sure in ((25, False), (200, False), (301, True)):
        watch._moved = time.monotonic() - idle_s
        watch._found(channel, (waits, RankState(rank=1)))
        hang = read_hang(tmp_path)
        assert hang is not None
        assert (round(hang.idle_s), hang.is_sure, len(told)) == (idle_s, is_sure, int(is_sure))
    assert "told/0" in channel.said


def test_collectives_that_do_not_match_are_reported_before_the_first_step(tmp_path: Path) -> None:
    told: list[Hang] = []
    watch = HangWatch(lambda: None, lambda: tmp_path, told.append)
    watch._moved = time.monotonic() - 21
    watch._found(Silent(), tuple(_waits_in(rank, name) for rank, name in enumerate(("barrier", "all_reduce"))))  # type: ignore[arg-type]
    assert [one.is_sure for one in told] == [True]


def _waits_in(rank: int, name: str) -> RankState:
    call = Call(0, name, (), "train.py", 4 + rank, hash(name))
    return RankState(rank=rank, kind="collective", doing=name, number=0, calls=(call,))


def test_a_rank_looks_again_until_it_is_sure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    watcher = SimpleNamespace(step=0, batches=0, steps=SimpleNamespace(backward_count=0))
    watcher.collectives = SimpleNamespace(count=0, now=object())
    watch = HangWatch(lambda: watcher, lambda: tmp_path, lambda hang: None, open=Silent)  # type: ignore[arg-type, return-value]
    monkeypatch.setattr(watch, "_call", lambda channel, name, then: asked.append(name))
    watch._look()
    for idle_s in (10, 21, 22, 39, 41, 42):
        watch._moved = time.monotonic() - idle_s
        watch._look()
    assert asked == ["0/0", "0/1"]


@pytest.mark.parametrize(("waits", "kept"), [(object(), 1), (None, 0)])
def test_what_was_seen_is_kept_once_while_a_rank_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: object, kept: int
) -> None:
    calls: list[str] = []
    watcher = SimpleNamespace(step=0, batches=0, steps=SimpleNamespace(backward_count=0))
    watcher.collectives = SimpleNamespace(count=0, now=waits)
    watch = HangWatch(
        lambda: watcher,  # type: ignore[arg-type, return-value]
        lambda: tmp_path,
        lambda hang: None,
        open=Silent,  # type: ignore[arg-type]
        stands_still=lambda: calls.append("kept"),
    )
    monkeypatch.setattr(watch, "_call", lambda channel, name, then: None)
    watch._look()
    for _ in range(3):
        watch._moved, watch._stack = time.monotonic() - 30, ()  # a stack that moves: it computes, if it does not wait
        watch._look()
    assert len(calls) == kept


def test_the_stack_of_a_rank_begins_with_the_script(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("def main(look):\n    return look()\n")
    code = compile((tmp_path / "train.py").read_text(), str(tmp_path / "train.py"), "exec")
    names: dict[str, Any] = {}
    exec(code, names)
    launcher = SimpleNamespace(f_code=runpy.run_path.__code__, f_lineno=1)
    frames = [launcher, SimpleNamespace(f_code=names["main"].__code__, f_lineno=2), launcher]
    assert [function for _, _, function in state_of(0, None, frames).stack] == ["main", "run_path"]
    assert [function for _, _, function in state_of(0, None, [launcher]).stack] == ["run_path"]
