"""A user's own patch of a function of torch, made after torch was imported: every relu is halved once."""

import torch
import torch.nn.functional as F
from torch import nn

calls = 0
original = F.relu


def half_relu(x, inplace=False):
    global calls
    calls += 1
    return 0.5 * original(x, inplace)


F.relu = half_relu
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(5):
    loss = F.mse_loss(F.relu(model(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), calls)
print(F.relu is half_relu)
