"""sys.exit with a message in the middle of training, through finally and a context manager."""
import contextlib
import sys

import torch
from torch import nn


@contextlib.contextmanager
def section(name):
    print("in", name)
    try:
        yield
    except SystemExit as end:
        print("leaving", name, end.code)
        raise
    finally:
        print("out", name)


torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with section("training"):
    for step in range(5):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 2)).square().mean()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
        if step == 3:
            sys.exit("loss is good enough")
