"""`os.fork` in the middle of training: children train on, raise, exit in every way; the parent reads how they ended."""
import atexit
import os
import sys

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
parent = os.getpid()
atexit.register(lambda: print("atexit", os.getpid() == parent, flush=True))


def step():
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


def child(number):
    print("child", number, step(), step(), flush=True)
    if number == 0:
        os._exit(5)
    if number == 1:
        raise ValueError("in a child")
    if number == 2:
        sys.exit("a message")
    os.kill(os.getpid(), 9)


for number in range(4):
    print("parent", step(), flush=True)
    pid = os.fork()
    if pid == 0:
        try:
            child(number)
        except (ValueError, SystemExit) as error:
            print("caught", error, flush=True)
            os._exit(6)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
print("parent", step())
