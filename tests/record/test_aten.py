"""Depth "aten": the operators below functionals, scripted code and backward."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope.record.recorder import Recorder
from stepscope.records.step import StepRecord


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True), nn.Linear(4, 2))


def test_operators_forward_and_backward_with_exact_edges(recorded: Callable[..., StepRecord]) -> None:
    def build() -> Any:
        model = net()
        optimizer = torch.optim.Adam(model.parameters(), foreach=True)

        def step() -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(torch.randn(3, 4)), torch.tensor([0, 1, 1]))
            loss.backward()
            optimizer.step()
            return loss

        return model, step

    step = recorded(build, depth="aten")
    forward = [op.name for op in step.ops if op.phase == "forward"]
    assert forward.count("aten.addmm.default") == 2
    assert "aten.relu_.default" in forward
    products = [op for op in step.ops if op.phase == "backward" and op.name == "aten.mm.default"]
    assert len(products) == 3
    assert [step.ops[op.forward].name for op in products if op.forward is not None] == ["aten.addmm.default"] * 3
    assert [op.module for op in products] == ["3", "3", "0"]


@pytest.mark.filterwarnings("ignore")
def test_scripted_code_is_opened() -> None:
    model = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))
    with Recorder(model, depth="aten") as recorder:
        model(torch.ones(1, 2))
    assert recorder.record is not None
    assert {"aten.tanh.default"} <= {op.name for op in recorder.record.ops}


def test_the_compiler_is_not_imported_for_it() -> None:
    code = (
        "import sys, torch\n"
        "from stepscope.record.recorder import Recorder\n"
        "with Recorder(depth='aten') as r: torch.ones(2) + 1\n"
        "print(len(r.record.ops), 'torch._dynamo' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["2", "False"]
