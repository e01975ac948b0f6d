"""A profiler of the user's own wraps nn.Module.__call__ and takes itself off again."""

import torch
from torch import nn

names = []
original = nn.Module.__call__
print(nn.Module.__call__ is nn.Module._wrapped_call_impl)


def traced(self, *args, **kwargs):
    names.append(type(self).__name__)
    return original(self, *args, **kwargs)


nn.Module.__call__ = traced
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    model(torch.randn(5, 3)).mean().backward()
    optimizer.step()
    print(names)
    names.clear()
nn.Module.__call__ = original
model(torch.randn(5, 3))
print(names, nn.Module.__call__ is original)
