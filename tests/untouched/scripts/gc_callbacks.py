"""gc thresholds, callbacks, debug flags and freeze are the user's; reference cycles die at collect."""
import gc
import weakref

import torch
from torch import nn

phases = []
gc.callbacks.append(lambda phase, info: phases.append(phase))
gc.set_threshold(500, 5, 5)
torch.manual_seed(0)


class Loop:
    def __init__(self):
        self.me = self
        self.tensor = torch.zeros(3)


model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
dead = []
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    ring = Loop()
    weakref.finalize(ring, dead.append, step)
    del ring
    gc.collect()
    print(step, loss.item(), dead, gc.get_threshold(), gc.isenabled(), len(gc.garbage))
gc.disable()
optimizer.zero_grad()
model(torch.randn(2, 3)).sum().backward()
optimizer.step()
print(gc.isenabled(), len(gc.callbacks), phases[-2:])
gc.callbacks.clear()
