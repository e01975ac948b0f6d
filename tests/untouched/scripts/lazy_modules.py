"""Lazy modules that turn into real ones at the first call, a dry run, and the optimizer made after."""
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = nn.Sequential(nn.LazyConv1d(4, 3), nn.LazyBatchNorm1d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
print([type(m).__name__ for m in model], model[0].has_uninitialized_params())
model(torch.randn(2, 3, 8))
print([type(m).__name__ for m in model], [len(m._forward_pre_hooks) for m in model])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3, 8)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(list(model.state_dict()))
