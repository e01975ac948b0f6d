"""What stands behind the traceback of a crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EMPTY = """
import torch
from torch.utils.data import DataLoader, TensorDataset
val = DataLoader(TensorDataset(torch.randn(10, 4)), batch_size=16, drop_last=True)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    model(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
total = 0
for x, in val:
    total += len(x)
print(1 / total)
"""


def test_a_crash_that_follows_from_an_earlier_finding_points_back_to_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(EMPTY)
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "run", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "STEPSCOPE_DIR": str(tmp_path / "runs")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    _, _, after = done.stderr.partition("ZeroDivisionError")
    assert "the crash follows from error[data.drop-last-tiny] above" in after
    assert "(train.py:4)\n  = fix: " in after
