"""An exception inside a custom backward: the traceback and the exit code."""
import torch
from torch import nn


class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ValueError(f"no gradient of {grad.sum().item()}")


torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    out = model(torch.randn(2, 3))
    loss = (Bad.apply(out) if step == 3 else out).sum()
    try:
        loss.backward()
    except ValueError as error:
        print("caught", error, type(error.__context__), type(error.__cause__))
        raise
    optimizer.step()
    print(step, loss.item())
