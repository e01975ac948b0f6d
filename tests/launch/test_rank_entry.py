"""A rank that Lightning has started tells how the run ended: the first rank is killed, and cannot."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import torch  # noqa: F401 - once for both forks

import stepscope
from stepscope.launch.child_processes import Note
from stepscope.launch.rank_command import leave_note
from stepscope.launch.rank_entry import main
from stepscope.runs.read.folder import RunFolder

CRASHES = """
import torch
layer = torch.nn.Linear(4, 2)
layer(torch.zeros(8, 4))
layer(torch.zeros(8, 3))
"""
LOST = "import torch\nraise RuntimeError('[gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:8172')"


def as_rank_1(script: Path, notes: Path) -> int:
    """Run it as that rank, in a fork of this process; its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 99
    try:
        os.environ["LOCAL_RANK"] = "1"
        sys.stderr = open(script.with_suffix(".err"), "w")  # noqa: SIM115
        main([str(notes), str(script)])
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.stderr.flush()
        os._exit(code)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir(mode=0o700)
    assert leave_note(str(folder), Note(str(folder), None, tells=True))
    return folder


def test_the_run_has_failed_with_the_error_and_the_finding_of_that_rank(tmp_path: Path, notes: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(CRASHES)
    with stepscope.init(dir=tmp_path / "runs", console=False, system=False) as run:
        assert as_rank_1(script, notes) == 1
        read = RunFolder(run.path)
        standing = read.standing
        assert (standing.status, standing.rank, standing.exit_code) == ("failed", 1, 1)
        assert "shapes cannot be multiplied (8x3 and 4x2)" in str(standing.error)
        assert 'train.py", line 5' in str(standing.traceback)
        assert "as_rank" not in str(standing.traceback)
        assert [one.rule for one in read.findings] == ["shape.linear-in"]
    said = script.with_suffix(".err").read_text()
    assert said.count("error[shape.linear-in]") == 1
    assert "Traceback (most recent call last)" in said


def test_a_rank_that_only_lost_the_others_says_nothing_of_the_run(tmp_path: Path, notes: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(LOST)
    with stepscope.init(dir=tmp_path / "runs", console=False, system=False) as run:
        assert as_rank_1(script, notes) == 1
        assert RunFolder(run.path).status == "running"
