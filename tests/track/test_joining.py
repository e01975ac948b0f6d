"""A rank never waits for rank 0: what it logs meanwhile is kept, and goes into the one run."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import stepscope
from stepscope.cli.main import commands
from stepscope.common import clocks
from stepscope.runs.format.layout import run_folders
from stepscope.runs.merge import note_job
from stepscope.track import ranks
from stepscope.track.joining import adopt_parts


@pytest.fixture
def rank(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Opens the run of one rank of two, as a launcher would have it."""

    def opened(number: int, store: str = "runs", size: int = 2, **more: Any) -> stepscope.Run:
        for name, value in {"RANK": number, "WORLD_SIZE": size, "LOCAL_RANK": number, "MASTER_PORT": 29533}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setattr("stepscope.track.session._turn", 0)
        monkeypatch.setattr("stepscope.track.session._run", None)
        return stepscope.init(project="p", dir=tmp_path / store, system=False, git=False, console=False, **more)

    return opened


def losses(run: Any, number: int) -> list[float]:
    return list(run.series("loss", rank=number).values)


def test_a_rank_logs_before_rank_0_has_made_the_run(rank: Any, tmp_path: Path) -> None:
    second = rank(1)
    second.log({"loss": 1.0}, step=0)
    assert run_folders(tmp_path / "runs") == []
    first = rank(0, config={"lr": 0.1})
    second.log({"loss": 0.5}, step=1)
    assert (second.id, second.path, second.name) == (first.id, first.path, first.name)
    first.log({"loss": 3.0}, step=0)
    second.finish()
    first.finish()
    (path,) = run_folders(tmp_path / "runs")
    run = stepscope.run(path)
    assert (losses(run, 0), losses(run, 1), run.ranks) == ([3.0], [1.0, 0.5], [0, 1])


def test_a_rank_that_ended_before_rank_0_began_is_taken_in(rank: Any, tmp_path: Path) -> None:
    second = rank(1)
    second.log({"loss": 1.0}, step=0)
    second.finish()
    assert len(run_folders(tmp_path / "runs")) == 1
    first = rank(0)
    first.finish()
    (path,) = run_folders(tmp_path / "runs")
    assert path == first.path
    assert losses(stepscope.run(path), 1) == [1.0]


def test_a_rank_that_gave_up_moves_to_the_run_when_it_ends(rank: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("STEPSCOPE_RANK_WAIT_S", "0")
    second = rank(1)
    second.log({"loss": 1.0}, step=0)
    own = second.path
    first = rank(0)
    first.finish()
    assert own in run_folders(tmp_path / "runs"), "it is still written"
    second.finish()
    assert run_folders(tmp_path / "runs") == [first.path]
    assert losses(stepscope.run(first.path), 1) == [1.0]


def test_a_part_that_moves_itself_meanwhile_does_not_keep_the_others_out(
    rank: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks 1 and 2 recorded apart; rank 1 moves its own folder after rank 0 has listed both."""
    for number in (1, 2):
        early = rank(number, size=3)
        early.log({"loss": float(number)}, step=0)
        early.finish()
    first = rank(0, size=3)

    def listed_too_early(*job: Any) -> list[tuple[Path, Path]]:
        parts = real(*job)
        monkeypatch.setattr(ranks, "parts", real)
        adopt_parts(first.path, ranks.place(), 1, only=parts[0][0])
        return parts

    real = ranks.parts
    monkeypatch.setattr(ranks, "parts", listed_too_early)
    first.finish()
    assert run_folders(tmp_path / "runs") == [first.path]
    assert [losses(stepscope.run(first.path), number) for number in (1, 2)] == [[1.0], [2.0]]


def test_folders_on_separate_disks_are_merged_and_merging_again_adds_nothing(rank: Any, tmp_path: Path) -> None:
    first, second = rank(0, "here"), rank(1, "there")
    for number, run in enumerate((first, second)):
        run.log({"loss": float(number)}, step=0)
        run.finish()
    note_job(second.path, first.id, 1)
    words = ["merge", first.id, str(tmp_path / "there"), "--dir", str(tmp_path / "here"), "--json"]
    told = [json.loads(CliRunner().invoke(commands, words).output) for _ in range(2)]
    assert [one["ranks"] for one in told] == [[0, 1]] * 2
    assert [sum(one["parts"].values()) > 0 for one in told] == [True, False]
    assert losses(stepscope.run(first.path), 1) == [1.0]
    assert second.path.exists()


def test_a_rank_without_any_disk_trains_on(rank: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "runs"))
    run = rank(1)
    run.log({"loss": 1.0}, step=0)
    run.finish()
    assert run.path is None


def test_nothing_waits_when_a_run_is_opened_on_a_rank(rank: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clocks, "sleep", slept.append)
    run = rank(1)
    assert slept == []
    monkeypatch.undo()
    run.finish()


def test_a_note_of_another_restart_is_not_ours(tmp_path: Path) -> None:
    store = tmp_path
    (store / "01JCQ4TY7M0000000000000000").mkdir()
    (store / "01JCQ4TY7M0000000000000000" / "meta.json").write_text("{}")
    where = ranks.Place(1, 2, 1, "job", restart=1)
    ranks.leave_note(store, where._replace(restart=0), 1, "01JCQ4TY7M0000000000000000", 0)
    assert ranks.find_note(store, where, 1, time.time()) is None
    ranks.leave_note(store, where, 1, "01JCQ4TY7M0000000000000000", 1)
    assert ranks.find_note(store, where, 1, time.time()) is not None


def test_nothing_heavy_is_imported_before_a_script_begins() -> None:
    """A script's own `pickle.py` would no longer be found: numpy imports the library's."""
    code = (
        "import sys, stepscope.cli.run, stepscope.launch.launch; print(sorted({'numpy', 'pickle'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "[]\n"


def test_a_rank_apart_is_found_by_the_run_its_job_named_while_it_had_no_folder(rank: Any, tmp_path: Path) -> None:
    first = rank(0, store="here")
    second = rank(1, store="there")
    second._joining.learn_job(first.id)
    second.log({"loss": 1.0}, step=0)
    second.finish()
    first.finish()
    there = ["--dir", str(tmp_path / "here"), first.id, str(tmp_path / "there")]
    done = CliRunner().invoke(commands, ["merge", *there])
    assert (done.exit_code, losses(stepscope.run(first.path), 1)) == (0, [1.0])
