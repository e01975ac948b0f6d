import argparse

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--gamma", type=float, default=0.7)
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def stripes(n):
    y = torch.randint(0, 4, (n,))
    x = torch.randn(n, 1, 16, 16)
    grid = torch.arange(16)
    patterns = torch.stack([
        (grid[:, None] % 4 < 2).float().expand(16, 16),
        (grid[None] % 4 < 2).float().expand(16, 16),
        ((grid[:, None] + grid[None]) % 4 < 2).float(),
        ((grid[:, None] - grid[None]) % 6 < 3).float(),
    ])
    return x + patterns[y].unsqueeze(1), y


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    train = TensorDataset(*stripes(1024))
    test = TensorDataset(*stripes(256))
    train_loader = DataLoader(train, batch_size=32, shuffle=True)
    test_loader = DataLoader(test, batch_size=256)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(16 * 36, 4),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    for epoch in range(1, args.epochs + 1):
        model.train()
        for data, target in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(data), target)
            loss.backward()
            optimizer.step()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            data, target = next(iter(test_loader))
            acc = (model(data).argmax(1) == target).float().mean().item()
        print(f"Train Epoch: {epoch} Loss: {loss.item():.6f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
