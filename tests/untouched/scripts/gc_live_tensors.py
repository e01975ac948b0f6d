# untouched: known in check: the loss is computed again from copies of the first batches, which are tensors that live
"""A user who hunts a leak counts the tensors and modules that are alive, and references to the model."""

import gc
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
    gc.collect()
    alive = [one for one in gc.get_objects() if isinstance(one, torch.Tensor)]
    print(step, len(alive), sorted(tuple(one.shape) for one in alive))
    del alive
print(sum(isinstance(one, nn.Module) for one in gc.get_objects()))
print(sys.getrefcount(model), sys.getrefcount(optimizer), sys.getrefcount(loss), sys.getrefcount(model[0].weight))
