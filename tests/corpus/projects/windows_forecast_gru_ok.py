"""Forecasts a noisy sum of waves from windows of forty steps."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, random_split

HISTORY = 40


class Windows(Dataset):
    def __init__(self, series, history):
        self.series = series
        self.history = history

    def __len__(self):
        return len(self.series) - self.history

    def __getitem__(self, index):
        window = self.series[index : index + self.history]
        return window.unsqueeze(-1), self.series[index + self.history]


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        output, _ = self.gru(x)
        return self.head(output[:, -1]).squeeze(1)


def make_series(length, generator):
    time = torch.arange(length, dtype=torch.float32)
    wave = torch.sin(2 * math.pi * time / 24) + 0.5 * torch.sin(2 * math.pi * time / 57)
    return wave + 0.2 * torch.randn(length, generator=generator)


def split(dataset, val_size):
    border = len(dataset) - val_size
    return Subset(dataset, range(border - HISTORY)), Subset(dataset, range(border, len(dataset)))


def main():
    torch.manual_seed(0)
    series = make_series(900, torch.Generator().manual_seed(1))
    train_set, val_set = split(Windows(series, HISTORY), 180)
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=180)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(6):
        model.train()
        for window, target in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(window), target)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            errors = [loss_fn(model(window), target).item() for window, target in val_loader]
        print(f"epoch {epoch} train {loss.item():.4f} val {sum(errors) / len(errors):.4f}")


if __name__ == "__main__":
    main()
