"""Forecasts the next value of a made load curve with an MLP on windows."""
import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    history: int = 24
    epochs: int = 10
    batch: int = 64
    lr: float = 2e-3


def load_curve(hours, generator):
    t = torch.arange(hours).float()
    daily = torch.sin(2 * math.pi * t / 24)
    weekly = 0.4 * torch.sin(2 * math.pi * t / 168)
    shocks = torch.randn(hours, generator=generator)
    return daily + weekly + 0.5 * shocks


def windows(series, cfg):
    x = series.unfold(0, cfg.history, 1)[:-1]
    y = series[cfg.history :]
    return x, y.unsqueeze(1)


def standardize(train, test):
    mean, std = train.mean(), train.std()
    return (train - mean) / std, (test - mean) / std


class MLP(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(cfg.history, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.layers(x)


def fit(model, x, y, cfg):
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    loss_fn = nn.MSELoss()
    for epoch in range(cfg.epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(cfg.batch):
            loss = loss_fn(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch} train {total / len(x):.4f}")


def main(cfg):
    torch.manual_seed(0)
    series = load_curve(2000, torch.Generator().manual_seed(3))
    train, test = standardize(series[:1600], series[1600:])
    x, y = windows(train, cfg)
    model = MLP(cfg)
    fit(model, x, y, cfg)
    x, y = windows(test, cfg)
    with torch.no_grad():
        print(f"test {nn.functional.mse_loss(model(x), y).item():.4f}")


if __name__ == "__main__":
    main(Config())
