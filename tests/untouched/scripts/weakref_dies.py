"""Weak references to inputs, outputs, losses and graphs die when they would."""

import gc
import weakref

import torch
from torch import nn

torch.manual_seed(0)
gc.collect()
gc.disable()
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
gone = []
for step in range(5):
    x = torch.randn(3, 4)
    out = model(x)
    loss = out.square().mean()
    for name, value in (("x", x), ("out", out), ("loss", loss)):
        weakref.finalize(value, gone.append, f"{name}{step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del x, out
    print(step, gone, end=" ")
    del loss
    print(gone)
ref = weakref.ref(model)
del model, optimizer
print(ref() is None, "before collecting")
gc.collect()
print(ref() is None, "after collecting")
