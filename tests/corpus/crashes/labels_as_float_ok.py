import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def table(n=300):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 4))
    y = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0).astype(int)
    return np.column_stack([x, y]).astype("float32")


def split(rows):
    features = torch.from_numpy(rows[:, :-1])
    labels = torch.from_numpy(rows[:, -1]).long()
    return TensorDataset(features, labels)


torch.manual_seed(0)
loader = DataLoader(split(table()), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for x, y in loader:
        loss = criterion(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
