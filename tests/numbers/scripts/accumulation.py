"""Gradients of four batches, divided beforehand."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
model = nn.Linear(12, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
loader, accum = DataLoader(train_set, 10), 4
optimizer.zero_grad()
running = 0.0
for epoch in range(2):
    for i, (xb, yb) in enumerate(loader):
        loss = F.cross_entropy(model(xb), yb) / accum
        loss.backward()
        running += loss.item()
        if (i + 1) % accum == 0:
            optimizer.step()
            optimizer.zero_grad()
            print(f"epoch {epoch} step {(i + 1) // accum}: loss {running:.4f}")
            running = 0.0
