"""Multi-label tagging of synthetic tracks."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score


class Tagger(nn.Module):
    def __init__(self, features, tags):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Dropout(0.1))
        self.out = nn.Linear(64, tags)

    def forward(self, x):
        return torch.sigmoid(self.out(self.hidden(x)))


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(0)
    x, y = make_multilabel_classification(
        n_samples=1600, n_features=30, n_classes=8, n_labels=2, random_state=0
    )
    x = torch.tensor(x, dtype=torch.float32)
    y = torch.tensor(y, dtype=torch.float32)
    mean, std = x[:1200].mean(0), x[:1200].std(0)
    x = (x - mean) / std
    train = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=args.batch_size, shuffle=True)

    model = Tagger(30, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.BCELoss()
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for xb, yb in train:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        if epoch % 5 == 4:
            model.eval()
            with torch.no_grad():
                predicted = (model(x[1200:]) > 0.5).int()
            f1 = f1_score(y[1200:].int(), predicted, average="micro")
            print(f"epoch {epoch + 1} loss {total / 1200:.4f} micro F1 {f1:.3f}")


if __name__ == "__main__":
    main()
