import argparse
import os
import tempfile

import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer


def make_model(hidden):
    return nn.Sequential(nn.Linear(30, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def load_data():
    x, y = load_breast_cancer(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32).unsqueeze(1)
    mean, std = x[:400].mean(0), x[:400].std(0)
    x = (x - mean) / std
    return x[:400], y[:400], x[400:], y[400:]


def train(args, path, x, y):
    model = make_model(args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(args.epochs):
        for rows in torch.randperm(len(x)).split(40):
            optimizer.zero_grad()
            loss = criterion(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    torch.save({"state": model.state_dict(), "args": args}, path)


def evaluate(path, x, y):
    checkpoint = torch.load(path)
    model = make_model(checkpoint["args"].hidden)
    model.load_state_dict(checkpoint["state"])
    model.eval()
    with torch.no_grad():
        return ((model(x) > 0).float() == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(37)
    x_train, y_train, x_test, y_test = load_data()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        train(args, path, x_train, y_train)
        print(f"test accuracy {evaluate(path, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
