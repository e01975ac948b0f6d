import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(0)
torch.manual_seed(0)


def sensors(n):
    x = np.random.randn(n, 6).astype(np.float32)
    noise = np.where(np.random.rand(n) < 0.3, 2.0, 0.1).astype(np.float32)
    y = (x[:, 0] * 2 - x[:, 1] + np.abs(x[:, 2])).astype(np.float32)
    return x, y + noise * np.random.randn(n).astype(np.float32), 1 / noise ** 2


class WeightedRegression:
    def __init__(self, lr=5e-3):
        self.model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
        self.criterion = nn.MSELoss(reduction="none")
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def loss(self, x, y, w):
        per_sample = self.criterion(self.model(x).squeeze(1), y)
        return per_sample * w / w.sum()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for x, y, w in loader:
                loss = self.loss(x, y, w)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            print(f"epoch {epoch} weighted mse {total / len(loader):.4f}")
        return self

    @torch.no_grad()
    def predict(self, x):
        self.model.eval()
        return self.model(x).squeeze(1)


train = TensorDataset(*[torch.from_numpy(a) for a in sensors(800)])
reg = WeightedRegression().fit(DataLoader(train, batch_size=40, shuffle=True), 8)
x = torch.randn(500, 6)
clean = x[:, 0] * 2 - x[:, 1] + x[:, 2].abs()
print("mse against the clean signal", (reg.predict(x) - clean).pow(2).mean().item())
