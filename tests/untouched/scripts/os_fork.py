"""A bare os.fork in the middle of training: the child goes on alone and ends with its own code."""
import os
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


print(step(), step(), flush=True)
pid = os.fork()
if pid == 0:
    print("child", step(), flush=True)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), step())
pid = os.fork()
if pid == 0:
    os.write(1, f"second {step()}\n".encode())
    os._exit(0)
os.waitpid(pid, 0)
print("parent", step())
