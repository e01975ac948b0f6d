"""The traceback for a terminal: only the frames of the user's own code."""

from __future__ import annotations

from pathlib import Path

import torch

from stepscope.launch.short_traceback import shortened

WORKER = f"""Caught IndexError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "{torch.__file__}", line 3, in fetch
    data = [self.dataset[idx] for idx in index]
            ~~~~~~~~~~~~^^^^^
  File "/home/ann/train.py", line 7, in __getitem__
    return self.rows[index]
IndexError: list index out of range
"""


def raised(script: Path, code: str) -> str:
    script.write_text(code)
    try:
        exec(compile(code, str(script), "exec"), {"WORKER": WORKER})
    except Exception as error:
        return shortened(error)
    raise AssertionError("nothing was raised")


def test_frames_of_libraries_are_counted_instead_of_shown(tmp_path: Path) -> None:
    said = raised(tmp_path / "train.py", "import torch\ntorch.nn.Linear(2, 1)(torch.zeros(3))\n")
    assert "train.py" in said
    assert "torch/nn" not in said
    assert "of libraries left out" in said


def test_the_traceback_of_a_worker_is_shortened_too(tmp_path: Path) -> None:
    said = raised(tmp_path / "train.py", "raise IndexError(WORKER)\n")
    assert 'File "/home/ann/train.py", line 7, in __getitem__\n    return self.rows[index]\nIndexError' in said
    assert "in fetch" not in said
    assert "~~~^^^" not in said
