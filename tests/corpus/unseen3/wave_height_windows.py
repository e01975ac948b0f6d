import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class WaveWindows(Dataset):
    def __init__(self, series, window):
        self.series, self.window = series, window

    def __len__(self):
        return len(self.series) - self.window

    def __getitem__(self, i):
        x = self.series[i:i + self.window + 1]
        y = self.series[i + self.window]
        return x.unsqueeze(-1), y


class WaveGRU(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.gru(x)[0][:, -1]
        return self.out(h).squeeze(-1)


def buoy(n):
    t = torch.arange(n) / 8.0
    swell = torch.sin(t) * (1 + 0.3 * torch.sin(t / 7))
    return swell + 0.5 * torch.randn(n)


def main(args):
    torch.manual_seed(args.seed)
    series = buoy(1000)
    train = DataLoader(WaveWindows(series[:800], args.window), batch_size=40, shuffle=True)
    test = DataLoader(WaveWindows(series[800:], args.window), batch_size=100)
    model = WaveGRU()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for x, y in train:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            errs = torch.cat([(model(x) - y) ** 2 for x, y in test])
        print(f"epoch {epoch} test mse {errs.mean().item():.4f} (noise floor 0.25)")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--window", type=int, default=20)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--seed", type=int, default=0)
    main(p.parse_args())
