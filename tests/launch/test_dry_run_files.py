"""A dry run leaves the script's folder as it was, whatever the script does there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.launch.dry_run_files import FolderKept


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FolderKept]:
    (tmp_path / "known.txt").write_text("before\n")
    monkeypatch.chdir(tmp_path)
    folder = FolderKept([str(tmp_path)], lambda said: None)
    yield folder
    folder.remove()


def test_a_file_that_was_there_is_written_to_a_copy_that_the_script_reads(kept: FolderKept, tmp_path: Path) -> None:
    with open("known.txt", "a") as file:
        file.write("after\n")
    assert Path("known.txt").read_text() == "before\nafter\n"
    kept.remove()
    assert (tmp_path / "known.txt").read_text() == "before\n"


def test_new_files_and_folders_are_found_by_everything_and_gone_at_the_end(kept: FolderKept, tmp_path: Path) -> None:
    os.makedirs("out/deep")
    Path("out/deep/model.txt").write_text("weights")
    os.replace("out/deep/model.txt", "out/best.txt")
    assert sorted(os.listdir("out")) == ["best.txt", "deep"]
    kept.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["known.txt"]


def test_what_was_there_is_neither_removed_nor_replaced(kept: FolderKept, tmp_path: Path) -> None:
    Path("new.txt").write_text("new")
    os.replace("new.txt", "known.txt")
    assert Path("known.txt").read_text() == "new"
    os.remove("known.txt")
    shutil.rmtree(tmp_path)
    kept.remove()
    assert (tmp_path / "known.txt").read_text() == "before\n"


def test_files_elsewhere_are_the_scripts_own_affair(kept: FolderKept, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other") / "kept.txt"
    other.write_text("x")
    kept.remove()
    assert other.read_text() == "x"


SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(64, 4)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(40):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
with open("report.txt", "w") as file:
    file.write("done")
print("loss curve:", undefined)
"""


def test_a_check_finds_what_fails_after_the_loop_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "report.txt").write_text("the last run's")
    command = [sys.executable, "-m", "stepscope", "check", "--quiet", "train.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 1
    assert "NameError: name 'undefined' is not defined" in ended.stderr
    assert "40 epochs" in ended.stderr
    assert (tmp_path / "report.txt").read_text() == "the last run's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.txt", "train.py"]
