"""A progress bar with a postfix, drawn over itself."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
import sys

loader = DataLoader(train_set, 25)
model = nn.Linear(12, 3)
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for epoch in range(2):
    for i, (xb, yb) in enumerate(loader, 1):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar = "#" * i + " " * (10 - i)
        sys.stderr.write(
            f"\rEpoch {epoch}: {10 * i:3d}%|{bar}| {i}/10 [00:00<00:00, 41.25it/s, loss={loss.item():.3f}]"
        )
        sys.stderr.flush()
    sys.stderr.write("\n")
