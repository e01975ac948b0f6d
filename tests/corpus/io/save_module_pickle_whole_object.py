import argparse
import pathlib

import torch
import torch.nn.functional as F
from torch import nn


class Filter(nn.Module):
    """A learned FIR filter bank that removes hum from a signal."""

    def __init__(self, taps):
        super().__init__()
        self.conv_in = nn.Conv1d(1, 8, taps, padding=taps // 2)
        self.conv_out = nn.Conv1d(8, 1, taps, padding=taps // 2)

    def forward(self, x):
        return self.conv_out(torch.tanh(self.conv_in(x)))


def signals(n, gen):
    t = torch.arange(64) / 64
    clean = torch.sin(2 * torch.pi * (2 + 2 * torch.rand(n, 1, 1, generator=gen)) * t)
    hum = 0.5 * torch.sin(2 * torch.pi * 16 * t + 6 * torch.rand(n, 1, 1, generator=gen))
    return clean + hum, clean


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", type=pathlib.Path, default=pathlib.Path("filter.pt"))
    p.add_argument("--taps", type=int, default=9)
    p.add_argument("--epochs", type=int, default=6)
    args = p.parse_args()
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    noisy, clean = signals(160, gen)
    val_noisy, val_clean = signals(40, gen)
    net = Filter(args.taps)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    best = float("inf")
    for epoch in range(args.epochs):
        net.train()
        for rows in torch.randperm(160).split(16):
            opt.zero_grad()
            loss = F.mse_loss(net(noisy[rows]), clean[rows])
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            val = F.mse_loss(net(val_noisy), val_clean).item()
        if val < best:
            best = val
            torch.save(net, args.out)
        print(f"epoch {epoch} train {loss.item():.6f} val {val:.6f}")
    net = torch.load(args.out, weights_only=False)
    with torch.no_grad():
        print(f"reloaded {F.mse_loss(net(val_noisy), val_clean).item():.6f}")


if __name__ == "__main__":
    main()
