"""Approximate a two-variable function with a configurable MLP."""
import argparse

import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])]
        self.act = nn.SiLU()

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.act(layer(x))
        return self.layers[-1](x)


def surface(points):
    return torch.sin(3 * points[:, :1]) * torch.cos(2 * points[:, 1:])


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, nargs="+", default=[32, 32, 32])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--lr", type=float, default=5e-3)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(29)
    model = Stack([2, *args.hidden, 1])
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()
    for step in range(args.steps):
        points = torch.rand(128, 2) * 2 - 1
        loss = criterion(model(points), surface(points))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(f"step {step + 1} mse {loss.item():.5f}")


if __name__ == "__main__":
    main()
