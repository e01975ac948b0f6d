"""The patch was made before the script began (before/patch_relu_before.py), with functools.wraps."""

import torch
import torch.nn.functional as F
import users_site
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for step in range(5):
    loss = F.mse_loss(F.relu(model(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), len(users_site.calls))
print(F.relu is users_site.half_relu, F.relu.__name__)
