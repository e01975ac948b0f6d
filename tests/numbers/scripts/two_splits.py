"""Validation and test loaders through one function, its name in the line."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
val_loader = DataLoader(TensorDataset(x[250:290], y[250:290]), 16)
test_loader = DataLoader(TensorDataset(x[290:], y[290:]), 16)
model = nn.Linear(12, 3)
criterion, opt = nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), 0.02)


@torch.no_grad()
def evaluate(name, loader):
    model.eval()
    loss = right = n = 0
    for xb, yb in loader:
        out = model(xb)
        loss += criterion(out, yb).item() * yb.size(0)
        right += (out.argmax(-1) == yb).sum().item()
        n += yb.size(0)
    print(f"{name}: loss={loss / n:.4f} acc={right / n:.4f}")


for epoch in range(3):
    model.train()
    for xb, yb in DataLoader(train_set, 50, shuffle=True):
        loss = criterion(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    evaluate("val", val_loader)
    evaluate("test", test_loader)
