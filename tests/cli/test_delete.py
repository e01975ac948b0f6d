from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import stepscope
from stepscope.cli.main import commands
from stepscope.errors import UsageError


def make(store: Path, name: str) -> Path:
    run = stepscope.init(dir=store, name=name, system=False, git=False)
    run.log({"loss": 1.0})
    run.finish()
    assert run.path is not None
    return run.path


def delete(store: Path, *args: str) -> str:
    done = CliRunner().invoke(commands, ["delete", *args, "--dir", str(store)], catch_exceptions=False)
    return done.output


def test_only_the_named_runs_go_and_the_list_knows(store: Path) -> None:
    gone, stays = make(store, "gone"), make(store, "stays")
    assert delete(store, "gone", gone.name, "--yes") == f"deleted gone  {gone.name}\n"
    assert os.listdir(store) == [stays.name]
    assert [run.name for run in stepscope.runs(store)] == ["stays"]


def test_without_a_terminal_a_yes_is_needed(store: Path) -> None:
    path = make(store, "kept")
    with pytest.raises(UsageError, match="--yes"):
        delete(store, "kept")
    assert path.exists()


def test_a_run_that_goes_on_is_kept_unless_forced(store: Path) -> None:
    run = stepscope.init(dir=store, name="busy", system=False, git=False)
    run.log({"loss": 1.0})
    with pytest.raises(UsageError, match="still running"):
        delete(store, "busy", "--yes")
    run.finish()
    assert run.path is not None
    assert run.path.exists()
