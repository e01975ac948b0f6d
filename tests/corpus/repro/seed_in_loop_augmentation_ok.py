import random

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


def seed_everything(seed=2024):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class NoisyDigits(Dataset):
    def __init__(self, rows):
        d = load_digits()
        self.x = torch.tensor(d.data[rows], dtype=torch.float32) / 16
        self.y = torch.tensor(d.target[rows])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        jitter = 0.3 * torch.randn(64)
        return self.x[i] + jitter, self.y[i]


if __name__ == "__main__":
    seed_everything()
    loader = DataLoader(NoisyDigits(slice(0, 480)), batch_size=24, shuffle=True)
    d = load_digits()
    x_test, y_test = torch.tensor(d.data[800:] / 16, dtype=torch.float32), torch.tensor(d.target[800:])
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(4):
        net.train()
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.5f} test acc {acc:.4f}")
