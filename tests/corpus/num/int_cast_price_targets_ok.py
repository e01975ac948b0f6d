import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.RandomState(7)
torch.manual_seed(7)


def houses(n):
    area = rng.uniform(40, 200, n)
    rooms = rng.randint(1, 7, n)
    age = rng.uniform(0, 60, n)
    price = 2.1 * area + 9 * rooms - 0.8 * age + 5 * rng.randn(n)
    return np.stack([area / 200, rooms / 6, age / 60], axis=1), price


X, price = houses(400)
train, val = slice(0, 320), slice(320, None)
lo, hi = price[train].min(), price[train].max()
target = (price - lo) / (hi - lo)

X = torch.FloatTensor(X)
target = torch.FloatTensor(target)
loader = DataLoader(TensorDataset(X[train], target[train]), batch_size=40, shuffle=True)


class PriceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x))).squeeze(1)


model = PriceModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
mae = nn.L1Loss()
for epoch in range(8):
    model.train()
    for xb, yb in loader:
        pred = model(xb)
        loss = mae(pred, yb.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        guess = model(X[val]).numpy() * (hi - lo) + lo
    print(f"epoch {epoch} loss {loss.item():.5f} val error {np.abs(guess - price[val]).mean():.3f}")
