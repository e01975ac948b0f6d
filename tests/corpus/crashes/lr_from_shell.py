import argparse

import torch
import torch.nn as nn


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", default=0.01)
    parser.add_argument("--hidden", type=int, default=16)
    return parser.parse_args()


def main():
    args = options()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, args.hidden), nn.ReLU(), nn.Linear(args.hidden, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    x = torch.randn(64, 3)
    for epoch in range(args.epochs):
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()
