"""Scripted and traced modules are summed up like any other."""

from __future__ import annotations

import pytest
import torch

import stepscope


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.layers(x))


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("kind", ["scripted", "traced", "partly"])
def test_a_compiled_module_has_a_summary(kind: str) -> None:
    net = Net().eval()
    x = torch.ones(5, 3)
    made = torch.jit.script(net) if kind == "scripted" else torch.jit.trace(net, x)
    model = torch.nn.Sequential(made, torch.nn.Linear(2, 1)) if kind == "partly" else made
    before = {name: value.clone() for name, value in model.state_dict().items()}
    summary = stepscope.summary(model, x)
    assert summary.parameters == sum(one.numel() for one in model.parameters())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_tensor_types_are_taken_for_their_dtype() -> None:
    made = stepscope.summary(torch.nn.Linear(3, 2), input_size=(4, 3), dtypes=[torch.FloatTensor])
    assert made.parameters == 8
