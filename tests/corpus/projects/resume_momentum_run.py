"""Trains in two halves, the second one resumed from the checkpoint of the first."""
import argparse
import os

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--out", default="checkpoints")
    return parser.parse_args()


def build():
    model = nn.Sequential(nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 10))
    return model


def make_loader():
    x, y = load_digits(return_X_y=True)
    data = TensorDataset(torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y))
    return DataLoader(data, batch_size=64, shuffle=True)


def save_checkpoint(path, model, optimizer, scheduler, epoch):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(),
         "scheduler": scheduler.state_dict(), "epoch": epoch},
        path,
    )


def load_checkpoint(path, model, optimizer, scheduler):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    return state["epoch"] + 1


def run(args, start, stop, resume=None):
    loader = make_loader()
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2 * args.epochs)
    if resume:
        start = load_checkpoint(resume, model, optimizer, scheduler)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(start, stop):
        total = 0.0
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        print(f"epoch {epoch} lr {optimizer.param_groups[0]['lr']:.6f} loss {total / len(loader):.4f}")
        save_checkpoint(os.path.join(args.out, "last.pt"), model, optimizer, scheduler, epoch)


if __name__ == "__main__":
    options = parse()
    torch.manual_seed(0)
    run(options, 0, options.epochs)
    run(options, 0, 2 * options.epochs, resume=os.path.join(options.out, "last.pt"))
