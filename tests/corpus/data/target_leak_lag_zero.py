import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def prices(n, seed):
    rng = np.random.default_rng(seed)
    x = np.zeros(n)
    for t in range(2, n):
        x[t] = 1.5 * x[t - 1] - 0.7 * x[t - 2] + rng.normal(0, 0.3)
    return x


def lag_matrix(series, lags):
    """Column j holds the value j steps earlier than the one to predict."""
    keep = slice(lags, len(series))
    cols = [np.roll(series, lag)[keep] for lag in range(lags)]
    return np.stack(cols, axis=1).astype(np.float32), series[keep].astype(np.float32)


def get_args():
    p = argparse.ArgumentParser(description="autoregressive price model")
    p.add_argument("--lags", type=int, default=6)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--hidden", type=int, default=24)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(21)
    series = prices(700, seed=4)
    series = (series - series[:550].mean()) / series[:550].std()
    xtr, ytr = map(torch.from_numpy, lag_matrix(series[:550], args.lags))
    xva, yva = map(torch.from_numpy, lag_matrix(series[550:], args.lags))
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=50, shuffle=True)
    model = nn.Sequential(nn.Linear(args.lags, args.hidden), nn.SiLU(), nn.Linear(args.hidden, 1))
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
    huber = nn.HuberLoss()
    for e in range(args.epochs):
        model.train()
        for xb, yb in loader:
            opt.zero_grad()
            loss = huber(model(xb)[:, 0], yb)
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            val = huber(model(xva)[:, 0], yva)
        print(f"epoch={e} train={loss.item():.6f} val={val.item():.6f}")


if __name__ == "__main__":
    main()
