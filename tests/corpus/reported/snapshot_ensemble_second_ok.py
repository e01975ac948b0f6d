"""Snapshot ensemble with a cyclic learning rate."""
import copy

import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


class MoonNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 40)
        self.second = nn.Linear(40, 2)
        self.last_hidden = None

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        self.last_hidden = hidden.detach()
        return self.second(hidden)


def main():
    torch.manual_seed(47)
    x, y = make_moons(n_samples=700, noise=0.25, random_state=47)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    train_x, train_y, test_x, test_y = x[:500], y[:500], x[500:], y[500:]
    model = MoonNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=10)
    snapshots = []
    for epoch in range(30):
        for rows in torch.randperm(500).split(50):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(train_x[rows]), train_y[rows])
            loss.backward()
            optimizer.step()
        scheduler.step()
        if epoch % 10 == 9:
            active = (model.last_hidden.abs() > 0.5).float().mean().item()
            print(f"snapshot at epoch {epoch}, loss {loss.item():.3f}, active units {active:.2f}")
            snapshots.append(copy.deepcopy(model))
    with torch.no_grad():
        votes = torch.stack([s(test_x).softmax(1) for s in snapshots]).mean(0)
    print("ensemble accuracy", (votes.argmax(1) == test_y).float().mean().item())


if __name__ == "__main__":
    main()
