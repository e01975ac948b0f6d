from __future__ import annotations

import time

import pytest
import torch
from torch import nn
from torch.nn.modules import module as torch_module

from stepscope.errors import UsageError
from stepscope.inspect.time_steps import time_steps


class Slow(torch.autograd.Function):
    """Takes 4 ms forward and 8 ms backward."""

    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        time.sleep(0.004)
        return x.clone()

    @staticmethod
    def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
        time.sleep(0.008)
        return gradient


class Net(nn.Sequential):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Slow.apply(super().forward(x))  # type: ignore[no-any-return,no-untyped-call]


def train(steps: int) -> list[float]:
    torch.manual_seed(0)
    model = Net(nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    losses = []
    for _ in range(steps):
        time.sleep(0.002)
        loss = model(torch.ones(1, 2)).sum()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def test_each_step_is_split_into_its_phases() -> None:
    plain = train(4)
    with time_steps() as times:
        assert train(4) == plain
    assert len(times) == 4
    for one in times.steps:
        assert one["forward"] > 4000
        assert one["backward"] > 8000
        assert one["other"] > 2000
        assert one["update"] > 0
        assert one["total"] == pytest.approx(one["forward"] + one["backward"] + one["update"] + one["other"])
    assert times.to_csv().split("\n")[0] == "step,forward_us,backward_us,update_us,other_us,total_us"
    assert "± is the interquartile range of 3 steps, without the first: forward" in str(times)
    assert "median" in str(times)


def test_accumulated_gradients_are_one_step_and_nothing_is_left_installed() -> None:
    hooks = len(torch_module._global_forward_hooks), len(torch_module._global_forward_pre_hooks)
    door = torch.autograd.__dict__.get("_engine_run_backward")
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with time_steps(skip=0) as times:
        for _ in range(2):
            for _ in range(3):
                model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    assert len(times) == 2
    assert (len(torch_module._global_forward_hooks), len(torch_module._global_forward_pre_hooks)) == hooks
    assert torch.autograd.__dict__.get("_engine_run_backward") is door


def test_an_exception_passes_and_what_ran_is_kept() -> None:
    times = time_steps()
    with pytest.raises(RuntimeError, match="cannot be multiplied"), times:  # noqa: PT012
        train(1)
        nn.Linear(2, 2)(torch.ones(1, 3))
    assert times.steps[0]["forward"] > 4000


def test_no_steps_print_too() -> None:
    with time_steps() as times:
        pass
    assert len(times) == 0
    assert str(times).startswith("0 steps")
    with pytest.raises(UsageError, match="skip is -1"):
        time_steps(skip=-1)


def test_optimizers_that_take_turns_are_one_step() -> None:
    maker, judge = nn.Linear(2, 2), nn.Linear(2, 1)
    optimizers = [torch.optim.SGD(one.parameters(), 0.1) for one in (judge, maker)]
    with time_steps() as times:
        for _ in range(3):
            for optimizer in optimizers:
                judge(maker(torch.ones(1, 2))).sum().backward()
                optimizer.step()
    assert len(times) == 3
