import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset


class Config:
    epochs = 6
    batch_size = 64
    max_lr = 1e-2
    seed = 9


def loaders(cfg):
    X, y = load_digits(return_X_y=True)
    X = torch.tensor(X / 16.0, dtype=torch.float32)
    y = torch.tensor(y)
    tr, te = train_test_split(range(len(X)), test_size=0.2, random_state=cfg.seed)
    train = DataLoader(TensorDataset(X[tr], y[tr]), batch_size=cfg.batch_size, shuffle=True)
    test = DataLoader(TensorDataset(X[te], y[te]), batch_size=256)
    return train, test


def evaluate(model, loader):
    model.eval()
    good = total = 0
    with torch.no_grad():
        for x, y in loader:
            good += (model(x).argmax(-1) == y).sum().item()
            total += y.numel()
    return good / total


def main(cfg):
    torch.manual_seed(cfg.seed)
    train, test = loaders(cfg)
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 10))
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.max_lr / 25)
    sched = OneCycleLR(opt, max_lr=cfg.max_lr, total_steps=cfg.epochs)
    ce = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        for x, y in train:
            loss = ce(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        print(f"epoch {epoch} lr {opt.param_groups[0]['lr']:.5f} loss {loss.item():.4f} acc {evaluate(model, test):.4f}")


if __name__ == "__main__":
    main(Config())
