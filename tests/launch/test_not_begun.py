"""A script that ends before it begins leaves no run; one that has said something does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.launch.parts.verdict import as_shown

PARSES = 'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--lr")\nparser.parse_args()\n'


def _stepscope(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stepscope", *words],
        cwd=folder,
        env={**os.environ, "STEPSCOPE_DIR": str(folder / "runs"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(("script", "word", "code"), [(PARSES, "--help", 0), (PARSES, "--nope", 2), ("x = (\n", "", 1)])
def test_a_script_that_has_not_begun_leaves_no_run(script: str, word: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(script)
    done = _stepscope(tmp_path, "run", "train.py", *([word] if word else []))
    assert done.returncode == code
    assert "stepscope show" not in done.stderr
    assert list((tmp_path / "runs").glob("*/meta.json")) == []


def test_a_script_that_exits_by_itself_is_kept(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import sys\nprint('so far')\nsys.exit(3)\n")
    assert _stepscope(tmp_path, "run", "train.py").returncode == 3
    assert len(list((tmp_path / "runs").glob("*/meta.json"))) == 1


def test_the_hint_names_the_folder_where_the_run_is_not_in_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "usual"))
    for folder, hint in (("usual", "mine"), ("refuge", f"mine --dir {tmp_path / 'refuge'}")):
        with stepscope.init(dir=tmp_path / folder, name="mine", system=False, console=False) as run:
            assert as_shown(run) == hint


def test_the_command_alone_prints_the_help(tmp_path: Path) -> None:
    done = _stepscope(tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("Usage: stepscope [OPTIONS] COMMAND")
