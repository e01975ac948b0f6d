"""Predicts prices of made houses."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        area = rng.uniform(40, 200, count)
        rooms = np.round(area / 30 + rng.normal(0, 0.5, count))
        age = rng.uniform(0, 60, count)
        price = 2.5 * area + 20 * rooms - 1.5 * age + rng.normal(0, 10, count)
        table = np.stack([area / 200, rooms / 7, age / 60], axis=1)
        self.x = torch.tensor(table, dtype=torch.float32)
        self.y = torch.tensor((price - 350) / 150, dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


class PriceNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


def huber(predicted, wanted, delta=1.0):
    gap = (predicted - wanted).abs()
    return torch.where(gap < delta, 0.5 * gap**2, delta * (gap - 0.5 * delta)).mean()


def r2(model, data):
    with torch.no_grad():
        guess = model(data.x).reshape(-1)
    return 1 - ((guess - data.y) ** 2).mean().item() / data.y.var().item()


def main():
    torch.manual_seed(0)
    train, test = Houses(800, 0), Houses(200, 1)
    loader = DataLoader(train, batch_size=32, shuffle=True)
    model = PriceNet(3)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        total = 0.0
        for x, y in loader:
            loss = huber(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 3 == 2:
            print(f"epoch {epoch} loss {total / len(loader):.4f} r2 {r2(model, test):.4f}")


if __name__ == "__main__":
    main()
