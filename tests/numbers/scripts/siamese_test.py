"""A test loss of two terms that only the test computes."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
model = nn.Linear(12, 3)
opt = torch.optim.Adam(model.parameters(), 0.01)
for epoch in range(3):
    for xb, yb in DataLoader(train_set, 50):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    test_loss = 0.0
    with torch.no_grad():
        for xb, yb in DataLoader(test_set, 30):
            out = model(xb)
            test_loss += (F.cross_entropy(out, yb) + 0.1 * out.pow(2).mean()).item() * len(xb)
    print(f"epoch {epoch} test_loss {test_loss / len(test_set):.5f}")
