"""A quick check on the first three validation batches only."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
val_loader = DataLoader(test_set, 10)
model = nn.Linear(12, 3)
opt = torch.optim.Adam(model.parameters(), 0.02)
for epoch in range(3):
    for xb, yb in DataLoader(train_set, 50):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    quick = []
    with torch.no_grad():
        for i, (xb, yb) in enumerate(val_loader):
            if i == 3:
                break
            quick.append(F.cross_entropy(model(xb), yb).item())
    print(f"epoch {epoch}  quick_val {sum(quick) / 3:.4f}")
