"""A project is called what a person would call it, and the git state is that of the script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.track.environment import quick_facts
from stepscope.track.names import default_project


def _start(monkeypatch: pytest.MonkeyPatch, script: Path) -> None:
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text("")
    monkeypatch.setattr(sys, "argv", [str(script)])


def _git(folder: Path, *words: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("script", "project"),
    [("vae/train.py", "vae"), ("vae/main.py", "vae"), ("vae/digits.py", "digits"), ("vae/__main__.py", "vae")],
)
def test_a_script_whose_name_says_nothing_is_called_by_its_folder(
    script: str, project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _start(monkeypatch, tmp_path / script)
    monkeypatch.chdir((tmp_path / script).parent)
    assert default_project() == project


def test_in_a_repository_the_project_is_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _git(tmp_path / "work", "init", "-q")
    _start(monkeypatch, tmp_path / "work" / "scripts" / "digits.py")
    assert default_project() == "work"
    _git(tmp_path / "work", "remote", "add", "origin", "git@example.org:lab/diffusion.git")
    assert default_project() == "diffusion"


def test_the_git_state_is_that_of_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _git(tmp_path / "code", "init", "-q", "-b", "mine")
    _git(tmp_path / "elsewhere", "init", "-q", "-b", "other")
    _start(monkeypatch, tmp_path / "code" / "train.py")
    monkeypatch.chdir(tmp_path / "elsewhere")
    facts = quick_facts()
    assert facts["git"].branch == "mine"
    assert facts["cwd"] == str(tmp_path / "elsewhere")


def test_notes_that_are_none_are_empty(tmp_path: Path) -> None:
    with stepscope.init(dir=tmp_path, notes=None, system=False, console=False) as run:
        run.notes = None  # type: ignore[assignment]
    assert stepscope.run("last", tmp_path).notes == ""


def test_folders_above_the_working_folder_are_not_those_above_a_script_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _git(tmp_path / "elsewhere", "init", "-q", "-b", "other")
    _start(monkeypatch, tmp_path / "vae" / "main.py")
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "argv", ["../vae/main.py"])
    assert default_project() == "vae"
    assert quick_facts()["git"] is None
