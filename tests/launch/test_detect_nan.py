"""`--detect-nan` names the step and the line, and changes nothing of a script that has patched backward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from stepscope import fence
from stepscope.launch.detect_nan import DetectNan
from stepscope.launch.loop import Loop


def train(bad: int | None, steps: int = 5, optimizer: bool = True) -> list[float]:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    stepper = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(steps):
        loss = model(torch.randn(4, 3)).square().mean()
        if step == bad:
            loss = loss + (loss * 0).sqrt()
        loss.backward()
        if optimizer:
            stepper.step()
        stepper.zero_grad()
        losses.append(loss.item())
    return losses


def watched(**how: Any) -> tuple[list[float], list[str]]:
    said: list[str] = []
    loop = Loop()
    loop.install()
    detect = DetectNan(loop, said.append)
    detect.start(torch)
    try:
        losses = train(**how)
    finally:
        detect.stop()
        loop.remove()
    assert not fence._faults, [fault.traceback for fault in fence._faults.values()]
    assert torch.overrides._get_current_function_mode_stack() == []
    return losses, said


def test_names_the_step_and_the_operation() -> None:
    _, said = watched(bad=2)
    assert len(said) == 1
    assert said[0].startswith("--detect-nan: in step 2 a value that is not finite was born")
    assert "sqrt" in said[0]


def test_the_last_backward_of_a_script_is_looked_at_too() -> None:
    _, said = watched(bad=4, optimizer=False)
    assert len(said) == 1
    assert "sqrt" in said[0]


def test_a_healthy_training_is_the_same_to_the_bit() -> None:
    plain = train(bad=None)
    assert watched(bad=None) == (plain, [])


def test_a_patch_of_backward_is_called_once_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    backward, counts = torch.Tensor.backward, []

    def twice(loss: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        counts.append(1)
        backward(2 * loss, *args, **kwargs)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(torch.Tensor, "backward", twice)
    plain = train(bad=None)
    assert watched(bad=None) == (plain, [])
    assert len(counts) == 10
