"""A user's own tracer sees the user's functions, and stays the tracer."""

import sys

import torch
from torch import nn

seen = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        seen.append((event, frame.f_code.co_name, frame.f_lineno))
        return tracer
    return None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        y = self.fc(x)
        return y.abs()


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train_step():
    optimizer.zero_grad()
    loss = net(torch.ones(2, 3)).mean()
    loss.backward()
    optimizer.step()
    return loss


for _ in range(4):
    sys.settrace(tracer)
    train_step()
    print(sys.gettrace() is tracer)
    sys.settrace(None)
    print(seen)
    seen.clear()
