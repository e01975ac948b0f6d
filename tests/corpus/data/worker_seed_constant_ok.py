import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ShiftedBumps(Dataset):
    """One-dimensional bumps, randomly moved and scaled each time they are read."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.kind = rng.integers(0, 3, size=n)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        grid = np.linspace(-1, 1, 32)
        k = self.kind[i]
        centre = np.random.uniform(-0.4, 0.4)
        gain = np.random.uniform(0.7, 1.3)
        bump = gain * np.exp(-((grid - centre) * (3 + 4 * k)) ** 2)
        return (bump + 0.05 * np.random.randn(32)).astype(np.float32), int(k)


def worker_init(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(ShiftedBumps(240, 1), batch_size=24, shuffle=True,
                              num_workers=2, worker_init_fn=worker_init)
    model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(4):
        total = 0.0
        for x, k in train_loader:
            opt.zero_grad()
            loss = criterion(model(x), k)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train_loader):.6f}")


if __name__ == "__main__":
    main()
