"""Errors that cannot be raised: in `__del__`, in a weakref callback, in a thread; with the script's own hooks too."""
import sys
import threading
import weakref

import torch
from torch import nn


class Bad:
    def __del__(self):
        raise ValueError("in __del__")


def callback(reference):
    raise KeyError("in a weakref callback")


def step():
    optimizer.zero_grad()
    bad = Bad()
    loss = model(torch.randn(4, 3)).square().mean()
    del bad
    loss.backward()
    optimizer.step()
    return loss.item()


torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hook, other = sys.unraisablehook, threading.excepthook
print(hook is sys.__unraisablehook__, other is threading.__excepthook__)
sys.unraisablehook = lambda args: print("unraisable", args.exc_type.__name__, args.exc_value)
threading.excepthook = lambda args: print("thread", args.exc_type.__name__, args.thread.name)
print(step())
layer = nn.Linear(1, 1)
reference = weakref.ref(layer, callback)
del layer
thread = threading.Thread(target=lambda: model(torch.randn(4, 7)), name="worker")
thread.start()
thread.join()
print(step())
sys.unraisablehook, threading.excepthook = hook, other
print(sys.unraisablehook is sys.__unraisablehook__)
