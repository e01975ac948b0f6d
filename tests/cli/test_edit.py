from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import stepscope
from stepscope.cli.main import commands
from stepscope.errors import NotFound, UsageError


@pytest.fixture
def run(store: Path) -> Path:
    with stepscope.init(dir=store, name="first", tags=["wip"], system=False, git=False) as run:
        run.log({"loss": 1.0})
    assert run.path is not None
    return run.path


def edit(store: Path, *args: str) -> str:
    done = CliRunner().invoke(commands, ["edit", *args, "--dir", str(store)], catch_exceptions=False)
    return done.output


def test_tags_notes_and_name_change_and_the_numbers_stay(store: Path, run: Path) -> None:
    said = edit(store, "first", "-t", "good", "--tag", "kept", "--untag", "wip", "--note", "as it was", "--name", "2nd")
    assert said == f"2nd  {run.name}  tags: good  kept\n"
    read = stepscope.run(run)
    assert (read.name, read.tags, read.notes) == ("2nd", ["good", "kept"], "as it was")
    assert (read.status, read.series("loss").values.tolist()) == ("finished", [1.0])


def test_nothing_to_change_names_the_options(store: Path, run: Path) -> None:
    with pytest.raises(UsageError, match="--tag, --untag, --note or --name"):
        edit(store, "last")


def test_one_wrong_name_changes_no_run(store: Path, run: Path) -> None:
    with pytest.raises(NotFound, match="secnod"):
        edit(store, "first", "secnod", "--tag", "x")
    assert stepscope.run(run).tags == ["wip"]
