"""One-hour-ahead grid load forecast with a small GRU."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WINDOW = 24


def load_curve(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    base = np.sin(2 * np.pi * t / 24) + 0.3 * np.sin(2 * np.pi * t / 168)
    shock = np.zeros(hours)
    for i in range(1, hours):
        shock[i] = 0.7 * shock[i - 1] + rng.normal(0, 0.4)
    return (base + shock).astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, series):
        self.series = series

    def __len__(self):
        return len(self.series) - WINDOW

    def __getitem__(self, i):
        x = self.series[i:i + WINDOW]
        y = self.series[i + WINDOW - 1]
        return torch.from_numpy(x).unsqueeze(-1), torch.tensor([y])


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])


torch.manual_seed(0)
curve = load_curve(1400, seed=0)
mean, std = curve[:1000].mean(), curve[:1000].std()
curve = (curve - mean) / std
train_loader = DataLoader(WindowDataset(curve[:1000]), batch_size=64, shuffle=True)
test_loader = DataLoader(WindowDataset(curve[1000:]), batch_size=128)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        errors = torch.cat([(model(x) - y).abs() for x, y in test_loader])
    print(f"epoch {epoch} train mse {loss.item():.4f} test mae {errors.mean().item():.4f}")
