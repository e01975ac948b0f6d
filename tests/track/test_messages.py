"""What a person at a terminal is told, and that nobody else is told anything."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.runs.format.layout import run_folders

SCRIPT = "import stepscope\nrun = stepscope.init(name='first\\x1b[31m try', system=False, git=False)\nprint('hi')\n"


def on_a_terminal(folder: Path, **variables: str) -> str:
    """What a script shows whose stderr is a terminal."""
    ours, theirs = pty.openpty()
    try:
        environment = {**os.environ, "STEPSCOPE_DIR": str(folder / "my runs"), **variables}
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            timeout=300,
            cwd=folder,
            check=True,
        )
        os.write(theirs, b"\n")
        return os.read(ours, 10_000).decode().replace("\r\n", "\n").strip()
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_person_is_told_where_the_run_is_and_how_to_see_it(tmp_path: Path) -> None:
    shown = on_a_terminal(tmp_path)
    (path,) = run_folders(tmp_path / "my runs")
    told = rf"stepscope: run 'first\\x1b\[31m try' -> my runs/{path.name} \(see it with: stepscope ui 'my runs'\)"
    assert re.fullmatch(told, shown)
    assert [piece.text for piece in stepscope.run(path).console()] == ["hi\n"]


def test_who_asks_for_quiet_gets_it(tmp_path: Path) -> None:
    assert on_a_terminal(tmp_path, STEPSCOPE_QUIET="1") == ""


def test_nothing_is_said_into_a_pipe(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stepscope.init(dir=store, system=False, git=False).finish()
    assert capsys.readouterr() == ("", "")
