"""Digits with a dropout MLP; train_one_epoch and validate in the shape of an engine.py."""
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    lr: float = 2e-3
    epochs: int = 6
    batch_size: int = 64
    hidden: int = 128
    dropout: float = 0.5
    seed: int = 3


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, cfg.hidden), nn.BatchNorm1d(cfg.hidden), nn.ReLU(), nn.Dropout(cfg.dropout),
            nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(), nn.Dropout(cfg.dropout),
        )
        self.head = nn.Linear(cfg.hidden, 10)

    def forward(self, x):
        return self.head(self.body(x))


def train_one_epoch(model, criterion, loader, optimizer):
    model.train()
    running = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(targets)
    return running / len(loader.dataset)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    right = 0
    for inputs, targets in loader:
        right += (model(inputs).argmax(1) == targets).sum().item()
    return right / len(loader.dataset)


def main(cfg):
    torch.manual_seed(cfg.seed)
    x, y = load_digits(return_X_y=True)
    x_train, x_val, y_train, y_val = train_test_split(x / 16, y, test_size=0.2, random_state=cfg.seed, stratify=y)
    train_set = TensorDataset(torch.tensor(x_train, dtype=torch.float32), torch.tensor(y_train))
    val_set = TensorDataset(torch.tensor(x_val, dtype=torch.float32), torch.tensor(y_val))
    train_loader = DataLoader(train_set, cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, 256)
    model = Net(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()
    validate(model, val_loader)
    for epoch in range(cfg.epochs):
        loss = train_one_epoch(model, criterion, train_loader, optimizer)
        print(f"epoch {epoch} loss {loss:.4f} val {validate(model, val_loader):.4f}")


if __name__ == "__main__":
    main(Config())
