"""One step ahead forecast of a noisy random walk with seasonality."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make_series(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    season = np.sin(np.arange(n) / 7.0)
    shocks = rng.normal(0, 0.8, n)
    return (season + shocks).astype(np.float32)


class Windows(Dataset):
    def __init__(self, series, length):
        self.series = torch.from_numpy(series)
        self.length = length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        end = i + self.length
        return self.series[i + 1 : end + 1], self.series[end]


class Forecaster(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(length, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def evaluate(model, loader):
    model.eval()
    total = count = 0
    with torch.no_grad():
        for x, y in loader:
            total += (model(x) - y).pow(2).sum().item()
            count += len(y)
    return (total / count) ** 0.5


def main(length=24, epochs=10):
    torch.manual_seed(0)
    series = make_series()
    mean, std = series[:900].mean(), series[:900].std()
    series = (series - mean) / std
    train = DataLoader(Windows(series[:900], length), batch_size=64, shuffle=True)
    test = DataLoader(Windows(series[900:], length), batch_size=128)
    model = Forecaster(length)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        model.train()
        for x, y in train:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch}: test RMSE {evaluate(model, test):.3f} (series std {series[900:].std():.3f})")


if __name__ == "__main__":
    main()
