"""Ranks of a large job keep their logs on the node; the run gets what the node's leader passes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.runs.format.layout import log_files, run_folders
from stepscope.runs.read.folder import open_run
from stepscope.runs.read.node_bands import node_bands
from stepscope.runs.read.status import Machine, this_machine
from stepscope.track import node
from stepscope.track.ranks import Place, place

SCRIPT = """
import os, time, stepscope
run = stepscope.init(project="p", dir="runs", system=False, git=False, console=False)
for step in range(4):
    run.log({"loss": step + int(os.environ["RANK"])}, step=step)
while not run.path:
    run.log({"late": 0.0}, step=4)
    time.sleep(0.01)
if os.environ["RANK"] == os.environ.get("FAILS"):
    raise RuntimeError("planted")
if os.environ["RANK"] == os.environ.get("KILLED"):
    os.kill(os.getpid(), 9)
"""


def job(folder: Path, ranks: int = 4, **more: str) -> None:
    """All ranks at once, as a launcher starts them."""
    common = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_PORT": 29555, "STEPSCOPE_NODE_RANKS": 2}
    environment = {**os.environ, **{name: str(value) for name, value in common.items()}, **more}
    environment |= {"STEPSCOPE_NODE_DIR": str(folder / "node"), "STEPSCOPE_RANK_WAIT_S": "60"}
    (folder / "node").mkdir()
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            cwd=folder,
            env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(ranks)
    ]
    for one in started:
        one.wait(120)


def left_on_node(folder: Path) -> list[Path]:
    return list((folder / "node").glob("*/*"))


def test_many_ranks_leave_two_logs_and_nothing_on_the_node(tmp_path: Path) -> None:
    job(tmp_path)
    (path,) = run_folders(tmp_path / "runs")
    run = stepscope.run(path)
    assert (run.status, run.ranks) == ("finished", [0, 1, 2, 3])
    assert {one.header.rank for one in run._logs.parts.values() if one.header.role != "node"} == {0}
    (band,) = node_bands(run, "loss")
    assert (band.ranks, band.columns["count"].sum()) == ([1, 2, 3], 12)
    assert (band.columns["low"].min(), band.columns["high"].max()) == (1, 6)
    assert left_on_node(tmp_path) == []


@pytest.mark.parametrize(("how", "status"), [("FAILS", "failed"), ("KILLED", "killed")])
def test_a_rank_that_does_not_end_well_is_told_of_and_its_log_stays(tmp_path: Path, how: str, status: str) -> None:
    job(tmp_path, **{how: "2"})
    (path,) = run_folders(tmp_path / "runs")
    here = this_machine()
    run = open_run(path, machine=Machine(here.host, here.boot_id, lambda: here.now() + 60, here.started))
    assert (run.standing.status, run.standing.rank) == (status, 2)
    (kept,) = left_on_node(tmp_path)
    assert any(".2." in one.name for one in log_files(kept))
    if how == "FAILS":
        assert "planted" in (run.standing.error or "")
        assert run.series("loss", rank=2).values.tolist() == [2, 3, 4, 5]


def test_the_leader_killed_first_is_replaced_by_who_ends_next(tmp_path: Path) -> None:
    job(tmp_path, KILLED="0")
    (path,) = run_folders(tmp_path / "runs")
    run = stepscope.run(path)
    assert run.ranks == [0, 1, 2, 3]
    assert sum(band.columns["count"].sum() for band in node_bands(run, "loss")) == 12


def test_only_large_jobs_with_several_ranks_on_a_node_are_led(monkeypatch: pytest.MonkeyPatch) -> None:
    def led(size: int, local: int) -> bool:
        return node.is_led(Place(0, size, 0, "job", local_size=local))

    assert [led(8, 8), led(64, 8), led(4096, 8), led(4096, 1)] == [False, True, True, False]
    monkeypatch.setenv("STEPSCOPE_NODE_RANKS", "0")
    assert not led(4096, 8)
    monkeypatch.setenv("STEPSCOPE_NODE_RANKS", "2")
    assert led(4, 4)


def test_launchers_say_how_many_ranks_a_node_has() -> None:
    torchrun = {"RANK": "9", "WORLD_SIZE": "16", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "8"}
    slurm = {"SLURM_PROCID": "9", "SLURM_STEP_NUM_TASKS": "16", "SLURM_LOCALID": "1", "SLURM_NTASKS_PER_NODE": "8"}
    found: list[Any] = [place(torchrun), place(slurm)]
    assert [(one.local_rank, one.local_size) for one in found] == [(1, 8), (1, 8)]
