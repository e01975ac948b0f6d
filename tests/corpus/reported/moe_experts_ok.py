import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(torch.tanh(self.up(x)))


class MixtureNet(nn.Module):
    def __init__(self, dim=64, hidden=16, experts=4, classes=10):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(experts)])
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        weights = F.softmax(self.gate(x), dim=-1)
        mixed = torch.stack([expert(x) for expert in self.experts], dim=1)
        return self.out((weights.unsqueeze(-1) * mixed).sum(dim=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(0)

    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32)
    y = torch.tensor(y)
    xtr, xte, ytr, yte = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=64, shuffle=True)

    model = MixtureNet()
    print("trainable parameters:", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        model.eval()
        with torch.no_grad():
            acc = (model(xte).argmax(1) == yte).float().mean().item()
        print(f"epoch {epoch} loss {total / len(xtr):.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
