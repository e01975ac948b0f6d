from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import stepscope
from stepscope.cli.main import commands
from stepscope.errors import NotFound, UsageError


@pytest.fixture
def kept(store: Path, tmp_path: Path) -> Path:
    """A run with two versions of a file, and a reference."""
    source = tmp_path / "best.pt"
    with stepscope.init(dir=store, name="keeper", system=False, git=False) as run:
        for content in ("one", "two"):
            source.write_text(content)
            run.log_artifact(source, aliases=["good"] if content == "one" else [], type="model")
        run.log_artifact(source, name="../elsewhere", reference=True)
    return store


def restore(store: Path, *args: str) -> Result:
    return CliRunner().invoke(commands, ["restore", *args, "--dir", str(store)], catch_exceptions=False)


def test_without_a_name_it_lists_what_there_is(kept: Path) -> None:
    lines = restore(kept, "last").output.splitlines()
    assert lines[0].split() == ["artifact", "version", "type", "aliases", "files", "bytes", "age"]
    assert [line.split()[:3] for line in lines[1:3]] == [["best.pt", "v0", "model"], ["best.pt", "v1", "model"]]
    listed = json.loads(restore(kept, "last", "--json").output)
    assert [one["version"] for one in listed] == [0, 1, 0]


def test_the_newest_a_version_and_an_alias_come_back(kept: Path, tmp_path: Path) -> None:
    for wanted, content in (("best.pt", "two"), ("best.pt:v0", "one"), ("best.pt:good", "one")):
        out = tmp_path / content
        restore(kept, "keeper", wanted, "-o", str(out), "--overwrite")
        assert (out / "best.pt").read_text() == content


def test_nothing_is_overwritten_unasked(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "best.pt").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        restore(kept, "last", "best.pt", "-o", str(tmp_path))
    assert (tmp_path / "best.pt").read_text() == "mine"


def test_a_file_in_the_way_is_told(kept: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a file"):
        restore(kept, "last", "best.pt", "-o", str(tmp_path / "best.pt"))


def test_a_name_never_becomes_a_place(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    said = restore(kept, "last", "../elsewhere").output
    assert "only a reference" in said
    assert os.listdir(here) == ["-elsewhere-v0"]


def test_an_unknown_artifact_names_those_there_are(kept: Path) -> None:
    with pytest.raises(NotFound, match=r"there are: .*best\.pt"):
        restore(kept, "last", "worst.pt")
