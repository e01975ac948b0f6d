import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 24


def electricity(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    daily = np.sin(2 * np.pi * t / 24)
    noise = np.zeros(n)
    for i in range(1, n):
        noise[i] = 0.6 * noise[i - 1] + rng.normal(0, 0.5)
    return daily + noise


def make_windows(series, window):
    xs, ys = [], []
    for i in range(len(series) - window):
        xs.append(series[i:i + window])
        ys.append(series[i + window - 1])
    return torch.tensor(np.array(xs), dtype=torch.float32), torch.tensor(np.array(ys), dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(window, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def main():
    torch.manual_seed(0)
    series = electricity(2200, seed=0)
    train_s, test_s = series[:1700], series[1700:]
    mu, sd = train_s.mean(), train_s.std()
    X_tr, y_tr = make_windows((train_s - mu) / sd, WINDOW)
    X_te, y_te = make_windows((test_s - mu) / sd, WINDOW)
    loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=64, shuffle=True)
    model = Forecaster(WINDOW)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(10):
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            opt.step()
        with torch.no_grad():
            mae = (model(X_te) - y_te).abs().mean().item()
        print(f"epoch {epoch}: next-hour MAE {mae * sd:.4f}")
    naive = (X_te[:, -1] - y_te).abs().mean().item()
    print(f"naive forecast MAE {naive * sd:.4f}")


if __name__ == "__main__":
    main()
