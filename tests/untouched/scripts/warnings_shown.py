"""Warnings that go to stderr, once per line, and a showwarning of the user's own."""
import warnings

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        warnings.warn("forward is experimental", FutureWarning, stacklevel=2)
        return F.softmax(self.fc(x))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = F.l1_loss(net(torch.randn(2, 3)), torch.zeros(3))
    loss.backward()
    optimizer.step()
    warnings.warn(f"step {step} of the user")
    print(step, loss.item())
warnings.showwarning = lambda message, *rest, **more: print("shown", str(message)[:40])
warnings.simplefilter("always")
F.l1_loss(net(torch.randn(2, 3)), torch.zeros(3))
