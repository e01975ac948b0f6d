"""torch.jit.script of functions, classes and modules, a scripted submodule in an eager model."""

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor, steps: int = 2) -> torch.Tensor:
        for _ in range(steps):
            x = torch.sigmoid(x * self.weight) * x
        return x


@torch.jit.script
def total(parts: list[torch.Tensor]) -> torch.Tensor:
    s = torch.zeros(1)
    for part in parts:
        s = s + part.sum()
    return s


def halved(x: torch.Tensor) -> torch.Tensor:
    return x * 0.5


@torch.jit.script
class Shrink:
    """Its methods use a name of the module that it is in."""

    def __init__(self, times: int):
        self.times = times

    def apply(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.times):
            x = halved(x)
        return x


@torch.jit.script
def shrunk(x: torch.Tensor) -> torch.Tensor:
    return Shrink(2).apply(x)


torch.manual_seed(0)
gate = torch.jit.script(Gate())
model = nn.Sequential(nn.Linear(4, 4), gate, nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(5):
    optimizer.zero_grad()
    h = model(torch.randn(3, 4))
    loss = total([h, h.abs()]).squeeze()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(gate.code, total.graph)
print(shrunk(torch.ones(2)))
print(type(model[1]).__name__, [name for name, _ in gate.named_parameters()])
