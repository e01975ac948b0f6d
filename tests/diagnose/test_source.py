"""Which files of a project are read."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from stepscope.diagnose import source
from stepscope.diagnose.source import Source


def test_of_a_project_with_too_many_files_those_that_matter_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "_MOST_FILES", 5)
    before = dict.fromkeys(sys.modules)
    for number in range(20):
        path = tmp_path / f"part_{number}.py"
        path.write_text(f"x = {number}\n")
        module = ModuleType(f"part_{number}")
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    script = tmp_path / "train.py"
    script.write_text("y = 1\n")
    read = Source()
    assert len(read.files()) == 5
    assert script.name not in {Path(file.path).name for file in read.files()}
    assert read.file(str(script)) is not None  # something the watcher saw points at it
    assert script.name in {Path(file.path).name for file in read.files()}
    assert len(read.files()) == 5
    assert "part_0" not in before
