import argparse
import math

import torch
import torch.nn as nn


class TideRNN(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, h=None):
        out, h = self.rnn(x, h)
        return self.head(out), h


def make_tide(n):
    t = torch.arange(n, dtype=torch.float32)
    level = torch.sin(2 * math.pi * t / 24.8) + 0.4 * torch.sin(2 * math.pi * t / 12.4 + 0.5)
    return level + 0.03 * torch.randn(n)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--chunk", type=int, default=40)
    p.add_argument("--lr", type=float, default=5e-3)
    return p.parse_args()


def main():
    args = parse()
    torch.manual_seed(0)
    series = make_tide(1201)
    x_all = series[:-1].view(1, -1, 1)
    y_all = series[1:].view(1, -1, 1)
    split = 960
    net = TideRNN()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    mse = nn.MSELoss()

    for ep in range(args.epochs):
        h = None
        total, n = 0.0, 0
        for s in range(0, split, args.chunk):
            xb, yb = x_all[:, s:s + args.chunk], y_all[:, s:s + args.chunk]
            pred, h = net(xb, h)
            loss = mse(pred, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            n += 1
        print(f"epoch {ep}  mse {total / n:.5f}")

    with torch.no_grad():
        pred, _ = net(x_all)
        print("holdout mse", mse(pred[:, split:], y_all[:, split:]).item())


main()
