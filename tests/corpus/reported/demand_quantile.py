"""Upper bound forecast of demand with the pinball loss."""
import argparse

import torch
from torch import nn


def simulate(n, generator):
    hour = torch.rand(n, generator=generator) * 24
    temperature = 10 + 12 * torch.rand(n, generator=generator)
    base = 3 + torch.sin(hour / 24 * 6.2832) + 0.1 * temperature
    noise = torch.randn(n, generator=generator) * (0.3 + 0.02 * hour)
    x = torch.stack([hour / 12 - 1, (temperature - 16) / 6], dim=1)
    return x, base + noise


def pinball(prediction, target, q):
    error = prediction - target
    return torch.maximum(q * error, (q - 1) * error).mean()


class QuantileNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quantile", type=float, default=0.9)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--width", type=int, default=24)
    args = parser.parse_args()

    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    x, y = simulate(1500, generator)
    x_test, y_test = simulate(500, generator)
    model = QuantileNet(args.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(args.epochs):
        for idx in torch.randperm(len(x)).split(75):
            loss = pinball(model(x[idx]), y[idx], args.quantile)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} pinball {loss.item():.4f}")
    with torch.no_grad():
        covered = (y_test <= model(x_test)).float().mean().item()
    print(f"share of the test demand below the {args.quantile:.0%} bound: {covered:.3f}")


if __name__ == "__main__":
    main()
