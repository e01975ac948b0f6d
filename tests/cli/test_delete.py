from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

import stepscope
from stepscope.cli.main import commands
from stepscope.errors import NotFound, UsageError


def make(store: Path, name: str) -> Path:
    run = stepscope.init(dir=store, name=name, system=False, git=False)
    run.log({"loss": 1.0})
    run.finish()
    assert run.path is not None
    return run.path


def delete(store: Path, *args: str) -> str:
    done = CliRunner().invoke(commands, ["delete", *args, "--dir", str(store)], catch_exceptions=False)
    return done.output


def trash(store: Path, *args: str) -> str:
    done = CliRunner().invoke(commands, ["trash", *args, "--dir", str(store)], catch_exceptions=False)
    return done.output


def test_only_the_named_runs_go_and_the_list_knows(store: Path) -> None:
    gone, stays = make(store, "gone"), make(store, "stays")
    said = delete(store, "gone", gone.name, "--yes")
    assert said.splitlines()[0] == f"deleted gone  {gone.name}"
    assert [run.name for run in stepscope.runs(store)] == ["stays"]
    assert "gone" in trash(store)
    assert trash(store, "--restore", "gone") == f"restored gone  {gone}\n"
    assert sorted(run.name for run in stepscope.runs(store)) == ["gone", "stays"]
    assert delete(store, "gone", "--yes", "--for-good") == f"deleted gone  {gone.name}\n"
    assert os.listdir(store) == [stays.name]


def test_the_trash_is_emptied_only_with_a_yes(store: Path) -> None:
    path = make(store, "old")
    delete(store, "old", "--yes")
    with pytest.raises(UsageError, match="--yes"):
        trash(store, "--empty")
    with pytest.raises(NotFound, match="no run 'nobody' in the trash"):
        trash(store, "--restore", "nobody")
    assert json.loads(trash(store, "--json"))[0]["name"] == "old"
    assert trash(store, "--empty", "--yes") == f"removed old  {path.name}\n"
    assert os.listdir(store) == []


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
