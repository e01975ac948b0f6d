import numpy as np
import torch
import torch.nn as nn

QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def pinball(pred, target):
    err = target.unsqueeze(1) - pred
    return torch.maximum(QUANTILES * err, (QUANTILES - 1) * err).mean()


def make_series(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    return np.sin(2 * np.pi * t / 30) + (0.1 + 0.2 * (np.sin(2 * np.pi * t / 60) > 0)) * rng.normal(size=n)


def windows(series, w):
    X = np.lib.stride_tricks.sliding_window_view(series, w)[:-1]
    return torch.tensor(X.copy(), dtype=torch.float32), torch.tensor(series[w:].copy(), dtype=torch.float32)


class QuantileNet(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(w, 48), nn.ReLU(), nn.Linear(48, 3))

    def forward(self, x):
        low, step1, step2 = self.body(x).unbind(1)
        mid = low + nn.functional.softplus(step1)
        return torch.stack([low, mid, mid + nn.functional.softplus(step2)], dim=1)


def main():
    torch.manual_seed(21)
    X_tr, y_tr = windows(make_series(1500, 0), 30)
    X_te, y_te = windows(make_series(600, 1), 30)
    model = QuantileNet(30)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    warmup = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 50))
    for epoch in range(12):
        for idx in torch.randperm(len(X_tr)).split(64):
            loss = pinball(model(X_tr[idx]), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            warmup.step()
        if epoch % 3 == 2:
            with torch.no_grad():
                q = model(X_te)
                cover = ((y_te >= q[:, 0]) & (y_te <= q[:, 2])).float().mean().item()
            print(f"epoch {epoch + 1} pinball {pinball(q, y_te).item():.4f} coverage of 80% band {cover:.3f}")


main()
