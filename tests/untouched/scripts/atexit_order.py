"""atexit functions run last in, first out, after threads have ended, and may still use the model."""
import atexit
import threading

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
atexit.register(lambda: print("first registered", model(torch.ones(1, 2)).item()))


@atexit.register
def last_step():
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    print("step at exit", model.weight.sum().item())


def patiently():
    threading.main_thread().join()
    print("thread over")


threading.Thread(target=patiently).start()
for step in range(3):
    optimizer.zero_grad()
    model(torch.randn(2, 2)).sum().backward()
    optimizer.step()
print("script over", model.weight.sum().item())
