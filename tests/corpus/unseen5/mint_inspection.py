"""Coin mint inspection: digits stand in for coin faces; test trays hold one denomination each."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class CoinNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(),
            nn.Linear(96, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(64, 10),
        )

    def forward(self, x):
        return self.net(x)


def trays(x, y):
    for k in range(10):
        yield x[y == k], y[y == k]


def train_one_epoch(model, opt, x, y, batch=64):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x)).split(batch):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    return total / len(x)


def inspect(model, x, y):
    correct = 0
    with torch.no_grad():
        for xb, yb in trays(x, y):
            correct += (model(xb).argmax(1) == yb).sum().item()
    return correct / len(y)


def main():
    torch.manual_seed(19)
    data = load_digits()
    x_tr, x_te, y_tr, y_te = train_test_split(data.data / 16.0, data.target, test_size=0.3, random_state=19)
    x_tr, x_te = torch.tensor(x_tr, dtype=torch.float32), torch.tensor(x_te, dtype=torch.float32)
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    model = CoinNet()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        loss = train_one_epoch(model, opt, x_tr, y_tr)
        print(f"epoch {epoch} loss {loss:.4f}")
    print("inspection accuracy", round(inspect(model, x_te, y_te), 4))


if __name__ == "__main__":
    main()
