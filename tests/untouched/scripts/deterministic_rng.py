"""Deterministic algorithms, fork_rng, get and set of states, generators; draws between the steps."""
import random

import numpy as np
import torch
from torch import nn

torch.use_deterministic_algorithms(True)
random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(3, 6), nn.Dropout(0.5), nn.Linear(6, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
state = torch.get_rng_state()
for step in range(6):
    optimizer.zero_grad()
    x = torch.randn(4, 3)
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    with torch.random.fork_rng():
        inside = torch.rand(1).item()
    print(step, loss.item(), inside, torch.rand(1).item(), random.random(), np.random.rand(), torch.randperm(5).tolist())
torch.set_rng_state(state)
print(torch.rand(2).tolist(), torch.initial_seed(), torch.default_generator.get_state().sum().item())
print(torch.are_deterministic_algorithms_enabled(), np.random.default_rng(0).random())
