"""Windows of close looking that something wakes: they are kept with the run, with the reason."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from stepscope.records import Coverage
from stepscope.runs.read.folder import RunFolder

from .conftest import launch_all

SCRIPT = """
    import os, signal, torch
    from torch import nn

    torch.manual_seed(0)
    first = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    second = nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.01)
    for step in range(1, 301):
        x = torch.randn(8, 4)
        y = x.sum(1, keepdim=True) + (100 if step == 150 else 0)
        loss = ((first if step < 200 else second)(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(first.parameters(), 1.0)
        optimizer.step()
        if step == 240:
            os.kill(os.getpid(), signal.SIGUSR2)
    """


@pytest.fixture(scope="module")
def coverage(tmp_path_factory: pytest.TempPathFactory) -> Coverage:
    folder = tmp_path_factory.mktemp("wakes")
    (folder / "train.py").write_text(textwrap.dedent(SCRIPT))
    argv = ["run", "-q", "--dir", "runs", "--profile-on", "signal", "train.py"]
    done: Any = launch_all([{"args": argv, "cwd": str(folder)}], torch=True)[0]
    assert done.code == 0, done.err
    (path,) = (one for one in Path(folder, "runs").iterdir() if one.is_dir())
    run = RunFolder(path)
    assert run.coverage is not None
    return run.coverage


def test_a_jump_of_the_loss_a_new_model_and_a_signal_wake(coverage: Coverage) -> None:
    woken = {one.first: one.why for one in coverage.windows if one.first > 103}
    jump, model, asked = sorted(woken)
    assert (jump, woken[jump].split(" from ")[0]) == (150, "the loss jumped")
    assert (model, woken[model]) == (200, "the first call of Linear")
    assert asked > 241
    assert woken[asked] == "the process got SIGUSR2"
