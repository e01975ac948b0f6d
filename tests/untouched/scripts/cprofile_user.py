"""cProfile by the user: the functions of the script and their call counts."""
import cProfile
import pstats

import torch
from torch import nn


def forward(model, x):
    return model(x)


def step(model, optimizer):
    optimizer.zero_grad()
    loss = forward(model, torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    return loss


torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with cProfile.Profile() as profiler:
    for _ in range(5):
        loss = step(model, optimizer)
found = pstats.Stats(profiler).stats
print(sorted((name, calls[0]) for (file, line, name), calls in found.items() if file == __file__), loss.item())
