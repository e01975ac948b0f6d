"""Where ops come from: the user's own line, also through torch, libraries and lambdas."""

from __future__ import annotations

import inspect
import sys

import torch
from torch import nn

from stepscope.record.recorder import Recorder
from stepscope.records.step import Site, StepRecord


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 2), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.body(x)  # the body
        return (x * 2).sum() + x.mean()  # the end


def sites(step: StepRecord, phase: str) -> list[Site]:
    return [step.sites[op.site] for op in step.ops if op.phase == phase and op.site is not None]


def record() -> StepRecord:
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    with Recorder(model) as recorder:
        model(torch.ones(1, 2)).backward()  # backward
        optimizer.step()  # update
    assert recorder.record is not None
    return recorder.record


def test_ops_inside_torch_layers_point_at_the_users_line() -> None:
    found = sites(record(), "forward")
    first = inspect.getsourcelines(Net)[1]
    assert [site.text.split("# ")[1] for site in found] == ["the body"] * 2 + ["the end"] * 4
    assert found[0].file == __file__
    assert found[0].line == first + 6
    assert found[0].function.endswith("forward")


def test_columns_point_at_the_sub_expression() -> None:
    if sys.version_info < (3, 11):
        return
    line = "        return (x * 2).sum() + x.mean()  # the end"
    found = sites(record(), "forward")[2:]
    assert [line[site.column : site.end_column] for site in found] == [
        "x * 2",
        "(x * 2).sum()",
        "x.mean()",
        "(x * 2).sum() + x.mean()",
    ]


def test_backward_ops_point_at_their_forward_line() -> None:
    step = record()
    assert sites(step, "backward")[0].text.endswith("# backward")
    multiply = next(op for op in step.ops if op.name == "MulBackward0")
    assert multiply.site is not None
    assert step.sites[multiply.site].text.endswith("# the end")


def test_optimizer_ops_point_at_the_call_of_step() -> None:
    found = sites(record(), "optimizer")
    assert found
    assert {site.text for site in found} == {"optimizer.step()  # update"}


def test_a_users_own_optimizer_has_its_own_lines() -> None:
    class Plain(torch.optim.Optimizer):
        def __init__(self, parameters: object) -> None:
            super().__init__(parameters, {})  # type: ignore[arg-type]

        @torch.no_grad()
        def step(self) -> None:  # type: ignore[override]
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad)  # my own update

    model = nn.Linear(1, 1)
    optimizer = Plain(model.parameters())
    with Recorder(model) as recorder:
        model(torch.ones(1, 1)).backward()
        optimizer.step()
    assert recorder.record is not None
    assert {site.text for site in sites(recorder.record, "optimizer")} == {"p.sub_(p.grad)  # my own update"}
