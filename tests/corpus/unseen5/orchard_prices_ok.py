"""Tabular regression: orchard prices from integer survey columns."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def survey(n, rng):
    trees = rng.integers(50, 2000, n)
    age = rng.integers(1, 60, n)
    slope = rng.integers(0, 40, n)
    distance = rng.integers(1, 300, n)
    raw = np.stack([trees, age, slope, distance], axis=1)
    price = 0.05 * trees * np.exp(-((age - 25) / 20.0) ** 2) - 0.3 * slope - 0.05 * distance + rng.normal(0, 3, n)
    return raw, price.astype(np.float32)


class MinMax:
    def fit(self, raw):
        self.lo, self.hi = raw.min(axis=0), raw.max(axis=0)
        return self

    def transform(self, raw):
        scaled = np.zeros(raw.shape, dtype=np.float32)
        for j in range(raw.shape[1]):
            scaled[:, j] = (raw[:, j] - self.lo[j]) / (self.hi[j] - self.lo[j])
        return torch.from_numpy(scaled).float()


class PriceModel(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def main():
    rng = np.random.default_rng(75)
    torch.manual_seed(75)
    raw_tr, y_tr = survey(1000, rng)
    raw_te, y_te = survey(300, rng)
    mm = MinMax().fit(raw_tr)
    mean, std = y_tr.mean(), y_tr.std()
    target = torch.from_numpy((y_tr - mean) / std)
    loader = DataLoader(TensorDataset(mm.transform(raw_tr), target), batch_size=50, shuffle=True)
    model = PriceModel(4)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(20):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        pred = model(mm.transform(raw_te)).numpy() * std + mean
    print("test MAE", np.abs(pred - y_te).mean(), "R2", 1 - ((pred - y_te) ** 2).mean() / y_te.var())


if __name__ == "__main__":
    main()
