from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from stepscope.errors import BadData, NotFound, StorageError
from stepscope.record.recorder import Recorder
from stepscope.record.serialise import load, pack, save, unpack
from stepscope.records.step import StepRecord


@pytest.fixture
def step() -> StepRecord:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    recorder = Recorder(model)
    with recorder:
        torch.nn.functional.dropout(model(torch.randn(2, 3)), p=0.5).sum().backward()
    assert recorder.record is not None
    return recorder.record


def test_a_step_comes_back_as_it_was(step: StepRecord, tmp_path: Path) -> None:
    assert load(save(step, tmp_path / "net.step")) == step
    assert [path.name for path in tmp_path.iterdir()] == ["net.step"]


def test_the_bytes_are_compact(step: StepRecord) -> None:
    assert len(pack(step)) < 150 * len(step.ops) + 600


def test_reading_needs_no_torch(step: StepRecord, tmp_path: Path) -> None:
    path = save(step, tmp_path / "net.step")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from stepscope.record.serialise import load\n"
        f"step = load({str(path)!r}); print(step.model, len(step.ops))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["Sequential", str(len(step.ops))]


def test_many_threads_may_read_their_first_step_at_once(step: StepRecord, tmp_path: Path) -> None:
    # A page asks for several views of a step together; with a decoder made on first use the process ended here.
    save(step, tmp_path / "step")
    code = (
        "import sys, threading\n"
        "from stepscope.record.serialise import load\n"
        "sys.setswitchinterval(1e-7)\n"
        "gate = threading.Barrier(16)\n"
        "threads = [threading.Thread(target=lambda: (gate.wait(), load(sys.argv[1]))) for _ in range(16)]\n"
        "[thread.start() for thread in threads]; [thread.join() for thread in threads]\n"
    )
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "step")], check=True)


def test_damaged_files_are_told_from_steps(step: StepRecord, tmp_path: Path) -> None:
    data = pack(step)
    with pytest.raises(BadData, match="not a recorded step"):
        unpack(b"PK\x03\x04")
    with pytest.raises(BadData, match="format 9"):
        unpack(data[:10] + bytes([9]) + data[11:])
    with pytest.raises(BadData, match="truncated"):
        unpack(data[:-20])
    with pytest.raises(BadData, match="damaged"):
        unpack(data[:40] + bytes(60) + data[100:])
    with pytest.raises(NotFound, match="no such file"):
        load(tmp_path / "none.step")
    with pytest.raises(StorageError, match="cannot write"):
        save(step, tmp_path / "no" / "such" / "folder.step")
