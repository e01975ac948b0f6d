"""`stepscope tune-data train.py`, as a user sees it."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest
from tests.launch.conftest import launch_all

TRAIN = """
    import sys, time
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    class Photos(Dataset):
        def __len__(self): return 400
        def __getitem__(self, index):
            time.sleep(0.016)
            return torch.randn(8), index % 3

    model = nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Photos(), batch_size=4, shuffle=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=1, steps_per_epoch=len(loader))
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(); loss.backward(); optimizer.step(); schedule.step()
    torch.save(model.state_dict(), "model.pt")
    print("the script came to its end")
"""
NO_LOADER = """
    import torch
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        model(torch.rand(8, 4)).sum().backward(); optimizer.step(); optimizer.zero_grad()
"""
NO_TRAINING = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    for (x,) in DataLoader(TensorDataset(torch.rand(20, 4)), batch_size=2):
        x.sum()
"""
TOO_SMALL = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    model = torch.nn.Linear(4, 1)
    for (x,) in DataLoader(TensorDataset(torch.rand(6, 4)), batch_size=2):
        model(x).sum().backward()
"""
CRASHES = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    model, steps = torch.nn.Linear(4, 1), 0
    for (x,) in DataLoader(TensorDataset(torch.rand(4000, 4)), batch_size=2):
        model(x).sum().backward()
        steps += 1
        if steps == 8: raise ValueError("boom")
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every case, launched from one process that has torch imported."""
    folder = tmp_path_factory.mktemp("tune")
    scripts = {"train": TRAIN, "no_loader": NO_LOADER, "no_training": NO_TRAINING, "too_small": TOO_SMALL,
               "crashes": CRASHES}  # fmt: skip
    cases = []
    for name, text in scripts.items():
        (folder / name).mkdir()
        (folder / name / f"{name}.py").write_text(textwrap.dedent(text))
        options = ["--seconds", "10", "--batches", "8", "--max-workers", "2", "--json", "report.json"]
        cases.append({"args": ["tune-data", *options, f"{name}.py"], "cwd": str(folder / name)})
    ran = launch_all(cases, torch=True)
    return {name: {**one._asdict(), "folder": folder / name} for name, one in zip(scripts, ran, strict=True)}


def test_it_finds_that_workers_help_and_gives_the_line(done: dict[str, dict[str, Any]]) -> None:
    result = done["train"]
    assert result["code"] == 0, result["err"]
    out = result["out"]
    assert "DataLoader at train.py:15 over Photos, batches of 4" in out
    assert "with free data" in out
    assert "best: num_workers=2" in out
    assert "  - loader = DataLoader(Photos(), batch_size=4, shuffle=True)\n" in out
    assert "  + loader = DataLoader(Photos(), batch_size=4, shuffle=True, num_workers=2" in out
    assert "num_workers=1: " in result["err"]


def test_the_report_for_programs_has_every_trial(done: dict[str, dict[str, Any]]) -> None:
    report = json.loads((done["train"]["folder"] / "report.json").read_text())
    assert report["place"]["line"] == 15
    assert report["change"]["num_workers"] == 2
    assert report["gain"] > 1.2
    assert report["step_s"]["free_data"] < report["step_s"]["now"]
    assert {trial["num_workers"] for trial in report["trials"]} == {0, 1, 2}


def test_the_script_is_stopped_and_saves_nothing(done: dict[str, dict[str, Any]]) -> None:
    assert "the script came to its end" not in done["train"]["out"]
    assert sorted(path.name for path in done["train"]["folder"].iterdir()) == ["report.json", "train.py"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_loader", "the script read no batch from a torch DataLoader"),
        ("no_training", "read 10 batches but never called backward()"),
        ("too_small", "gave too few batches (3 in total)"),
    ],
)
def test_what_cannot_be_tuned_is_said_with_what_to_do(done: dict[str, dict[str, Any]], name: str, said: str) -> None:
    assert done[name]["code"] == 3
    assert f"stepscope tune-data {name}.py: " in done[name]["err"]
    assert said in done[name]["err"]
    assert "Traceback" not in done[name]["err"]


def test_a_crash_is_the_scripts_own(done: dict[str, dict[str, Any]]) -> None:
    result = done["crashes"]
    assert result["code"] == 1
    assert "ValueError: boom" in result["err"]
    assert "the script crashed before all settings were tried" in result["out"]


def test_wrong_options_are_said() -> None:
    from click.testing import CliRunner

    from stepscope.cli.tune_data import command
    from stepscope.errors import UsageError

    outcome = CliRunner().invoke(command, ["--batch-size", "3,x", __file__])
    assert isinstance(outcome.exception, UsageError)
    assert "use for example 32,64,128" in str(outcome.exception)
