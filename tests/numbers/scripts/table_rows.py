"""A table: names once, then a row for each epoch."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
model = nn.Linear(12, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
print("epoch   train_loss   valid_loss   accuracy   time")
for epoch in range(4):
    for xb, yb in DataLoader(train_set, 50):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = model(x[250:])
        val, acc = F.cross_entropy(out, y[250:]).item(), (out.argmax(1) == y[250:]).float().mean().item()
    print(f"{epoch}       {loss.item():.6f}     {val:.6f}     {acc:.6f}   00:01")
