"""LBFGS calls its closure many times a step; closures for SGD too."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
calls = [0]


def make(optimizer):
    def closure():
        calls[0] += 1
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    return closure


lbfgs = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    print(step, lbfgs.step(make(lbfgs)).item(), sgd.step(make(sgd)).item(), calls)
