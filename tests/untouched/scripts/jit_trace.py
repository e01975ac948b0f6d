"""torch.jit.trace of a module in the middle of training, and training of the traced module."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(6, 4)
for step in range(2):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
traced = torch.jit.trace(model, x)
print(traced.code)
print(len(list(traced.graph.nodes())), torch.equal(traced(x), model(x)))


def f(a, b):
    return (a @ b).view(-1).softmax(0)


print(torch.jit.trace(f, (torch.randn(2, 3), torch.randn(3, 2))).graph)
for step in range(3):
    optimizer.zero_grad()
    loss = traced(x).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
