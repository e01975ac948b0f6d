import torch
import torch.nn as nn
from sklearn.datasets import load_iris


class Data:
    def __init__(self, seed=0):
        x, y = load_iris(return_X_y=True)
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
        self.x = torch.tensor(x, dtype=torch.float32)[order]
        self.y = torch.tensor(y).reshape(-1, 1)[order]

    def batches(self, size):
        for start in range(0, len(self.x), size):
            yield self.x[start : start + size], self.y[start : start + size]


torch.manual_seed(0)
data = Data()
model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for x, y in data.batches(25):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
print("loss", loss.item())
