"""`stepscope tune-batch train.py`, as a user sees it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from stepscope.launch.tuning_batch import busy_note

TRAIN = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(8, 8)
        def forward(self, x):
            wide = self.inner(x).unsqueeze(2) * torch.ones(1, 8, 1024 * len(x))  # grows with the square of the batch
            return wide.tanh().mean((1, 2))

    model = Wide()
    optimizer = torch.optim.OPTIMIZER(model.parameters(), lr=0.01)
    loader = DataLoader(TensorDataset(torch.randn(SAMPLES, 8)), batch_size=4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, epochs=1, steps_per_epoch=len(loader))
    print("the script's own words")
    for (x,) in loader:
        loss = model(x)CHECK.pow(2).sum()
        optimizer.zero_grad(); loss.backward(); optimizer.step(); schedule.step()
    torch.save(model.state_dict(), "model.pt")
"""
NO_LOADER = """
    import torch
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        model(torch.rand(8, 4)).sum().backward(); optimizer.step(); optimizer.zero_grad()
"""


def script(samples: int, optimizer: str = "SGD", check: str = "") -> str:
    return TRAIN.replace("SAMPLES", str(samples)).replace("OPTIMIZER", optimizer).replace("CHECK", check)


def tuned(folder: Path, text: str, *options: str) -> tuple[int, str, str, dict[str, Any]]:
    """Exit code, standard output, standard error, the document."""
    (folder / "train.py").write_text(textwrap.dedent(text))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("STEPSCOPE", "PYTEST"))}
    command = [sys.executable, "-m", "stepscope", "tune-batch", "--batches", "2", "--json", "report.json", *options]
    done = subprocess.run([*command, "train.py"], cwd=folder, capture_output=True, text=True, timeout=250,
                          env={**environment, "OMP_NUM_THREADS": "1"})  # fmt: skip
    return done.returncode, done.stdout, done.stderr, json.loads((folder / "report.json").read_text())


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is bounded by the kernel of Linux")
def test_the_largest_batch_that_fits_is_found_and_a_failed_one_undone(tmp_path: Path) -> None:
    jumps = script(4000).replace("1024 * len(x)", "4096 * (len(x) if len(x) < 24 else 1024)")  # no line foresees it
    code, out, err, report = tuned(tmp_path, jumps, "--max-memory", "700MB", "--seconds", "60")
    assert code == 0, err
    assert report["bounded_by"] == "memory"
    sizes = [one["size"] for one in report["curve"]]
    assert sizes == sorted(sizes)
    assert {2, 4, 8} <= set(sizes)
    assert 8 <= report["largest"] < 24 <= min(report["out_of_memory"])
    assert all(one["peak_bytes"] <= 1.05 * (700 << 20) for one in report["curve"])
    assert report["curve"][-1]["peak_bytes"] > 1.2 * report["curve"][0]["peak_bytes"]
    assert report["learning_rate"]["at"]["8"] == [pytest.approx(2 * report["learning_rate"]["now"][0])]
    assert "does not fit into memory" in out
    assert "over TensorDataset, batches of 4" in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "train.py"], "nothing is saved"


@pytest.mark.nightly
def test_the_data_and_an_option_bound_it_and_adams_rate_grows_by_the_root(tmp_path: Path) -> None:
    code, out, err, report = tuned(tmp_path, script(40, "Adam"), "--max-memory", "4GB", "--seconds", "60")
    assert (code, report["largest"], report["bounded_by"]) == (0, 40, "data"), err
    assert report["learning_rate"]["at"]["16"] == [pytest.approx(2 * report["learning_rate"]["now"][0])]
    assert "batches of 40: " in err
    assert "the script's own words" not in out


@pytest.mark.nightly
def test_a_script_that_fails_with_another_size_is_named_with_its_error(tmp_path: Path) -> None:
    code, out, err, report = tuned(tmp_path, script(400, check=".view(4)"), "--max-memory", "4GB")
    assert code == 3, out + err
    assert list(report["failed"]) == ["2"]
    assert "shape '[4]' is invalid" in report["failed"]["2"]


def test_what_cannot_be_tuned_is_said_with_the_reason(tmp_path: Path) -> None:
    code, _, err, report = tuned(tmp_path, NO_LOADER)
    assert code == 3
    assert "stepscope tune-batch train.py: the script read no batch from a torch DataLoader" in err
    assert "read no batch" in report["why_not"]


def test_a_busy_machine_is_mentioned() -> None:
    assert busy_note(0.1) == ""
    assert busy_note(1.5).startswith("other programs kept 1.5 processors busy")
