"""A user scales every loss inside a wrapper of Tensor.backward."""

import functools

import torch
from torch import nn

original = torch.Tensor.backward
calls = []


@functools.wraps(original)
def scaled(self, *args, **kwargs):
    calls.append(self.dim())
    return original(self * 2, *args, **kwargs)


torch.Tensor.backward = scaled
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(8, 4)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), len(calls), model[0].weight.grad.norm().item())
print(torch.Tensor.backward is scaled)
torch.Tensor.backward = original
(model(torch.ones(2, 4)).sum()).backward()
print(len(calls))
