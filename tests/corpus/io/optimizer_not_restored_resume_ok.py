import os

import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset

CKPT = "checkpoint.pt"


def build():
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.7)
    return model, optimizer, scheduler


def save(epoch, model, optimizer, scheduler):
    torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "scheduler": scheduler.state_dict()}, CKPT)


def resume(model, optimizer, scheduler):
    if not os.path.exists(CKPT):
        return 0
    ckpt = torch.load(CKPT, weights_only=True)
    model.load_state_dict(ckpt["model"])
    optimizer.load_state_dict(ckpt["optimizer"])
    scheduler.load_state_dict(ckpt["scheduler"])
    return ckpt["epoch"] + 1


def session(loader, until):
    model, optimizer, scheduler = build()
    start = resume(model, optimizer, scheduler)
    for epoch in range(start, until):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        save(epoch, model, optimizer, scheduler)
        print(f"epoch {epoch} loss {total / len(loader):.5f} lr {scheduler.get_last_lr()[0]:.6f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = make_classification(600, 20, n_informative=8, n_classes=4, random_state=0)
    data = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
    loader = DataLoader(data, batch_size=60, shuffle=True)
    session(loader, until=4)
    session(loader, until=8)
