"""Dictionaries printed as they are."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
loader = DataLoader(train_set, 50)
model = nn.Linear(12, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(3):
    total = 0.0
    for xb, yb in loader:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        right = (model(x[250:]).argmax(1) == y[250:]).sum().item()
    print({"epoch": epoch + 1, "train_loss": round(total / len(loader), 5), "eval_accuracy": right / 80})
