# untouched: known in run, check, profile: the user's patches are under ours, so they are not what the attributes hold
"""Patches of loaders and optimizers made before the script: once a call, still there at the end."""
import torch
import users_site
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=4, shuffle=True)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        print(epoch, loss.item(), users_site.seen)
print(DataLoader.__iter__ is users_site.__iter__, torch.optim.Optimizer.zero_grad is users_site.zero_grad)
