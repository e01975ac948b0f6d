import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build_data():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(1024, 10, generator=g)
    w = torch.randn(10, 3, generator=g)
    y = (x @ w + 2.0 * torch.randn(1024, 3, generator=g)).argmax(1)
    return TensorDataset(x, y)


def train(args):
    torch.manual_seed(args.seed)
    loader = DataLoader(build_data(), batch_size=args.micro, shuffle=True)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(args.epochs):
        running = 0.0
        optimizer.zero_grad()
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y) / args.accumulate
            loss.backward()
            if (step + 1) % args.accumulate == 0:
                optimizer.step()
            running += loss.item() * args.accumulate
        print(f"epoch {epoch} loss {running / len(loader):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--micro", type=int, default=4)
    parser.add_argument("--accumulate", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=5)
    train(parser.parse_args())
