"""Random and factory functions replaced by the user: a seeded noise source and a counted manual_seed."""
import random

import numpy as np
import torch
from torch import nn

count = {}
originals = {}


def counted(owner, name):
    original = originals[name] = getattr(owner, name)

    def wrapper(*args, **kwargs):
        count[name] = count.get(name, 0) + 1
        return original(*args, **kwargs)

    setattr(owner, name, wrapper)


for owner, name in [(torch, "randn"), (torch, "manual_seed"), (torch, "rand"), (np.random, "seed"), (random, "seed"),
                    (torch, "tensor"), (torch, "from_numpy"), (torch, "randperm"), (torch, "get_rng_state"), (torch, "isfinite")]:
    counted(owner, name)
torch.manual_seed(0)
np.random.seed(0)
random.seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    x = torch.randn(4, 3) + torch.from_numpy(np.random.rand(4, 3)).float() + random.random()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), dict(sorted(count.items())))
for name in ("randn", "rand", "manual_seed"):
    setattr(torch, name, originals[name])
print(torch.rand(1).item())
