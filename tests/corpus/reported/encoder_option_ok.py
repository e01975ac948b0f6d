import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits


def build_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--freeze", type=lambda text: text.lower() in ("true", "1", "yes"), default=True, help="keep the encoder fixed")
    parser.add_argument("--seed", type=int, default=0)
    return parser


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 12), nn.ReLU())
        self.head = nn.Linear(12, 10)

    def forward(self, x):
        return self.head(self.encoder(x))


def main():
    args = build_parser().parse_args()
    torch.manual_seed(args.seed)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    order = torch.randperm(len(x))
    train, test = order[:1400], order[1400:]
    model = Model()
    if args.freeze:
        for p in model.encoder.parameters():
            p.requires_grad = False
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=args.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for idx in train[torch.randperm(len(train))].split(50):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            acc = (model(x[test]).argmax(1) == y[test]).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(train):.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
