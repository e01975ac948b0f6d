"""A function mode of the user's sees the calls of the training, in order, and no others."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode, resolve_name


class Count(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(resolve_name(func) or getattr(func, "__name__", "?"))
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    with Count() as mode:
        loss = F.mse_loss(F.relu(model(torch.randn(3, 4))), torch.zeros(3, 2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(step, loss.item(), len(mode.seen))
    print(" ".join(mode.seen))
