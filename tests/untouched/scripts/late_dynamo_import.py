# untouched: without dynamo
# untouched: only run
"""The first optimizer imports dynamo, which itself patches torch; that patch must survive."""
import sys

import torch
from torch import nn

before = "torch._dynamo" in sys.modules
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(before, "torch._dynamo" in sys.modules, torch.manual_seed.__module__)
