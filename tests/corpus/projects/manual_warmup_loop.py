"""Sets the learning rate by hand each step: warm-up and cosine."""
import math

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Schedule:
    def __init__(self, optimizer, peak, warmup, total):
        self.optimizer, self.peak = optimizer, peak
        self.warmup, self.total = warmup, total
        self.count = 0

    def value(self):
        if self.count < self.warmup:
            return self.peak * (self.count // self.warmup)
        progress = (self.count - self.warmup) / max(1, self.total - self.warmup)
        return self.peak * 0.5 * (1 + math.cos(math.pi * progress))

    def step(self):
        self.count += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.value()


def build(width=80):
    return nn.Sequential(
        nn.Linear(64, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 10)
    )


def load(batch):
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train = DataLoader(TensorDataset(x[:1440], y[:1440]), batch, shuffle=True)
    return train, (x[1440:], y[1440:])


def run(epochs=6, batch=48):
    torch.manual_seed(0)
    train, (x_val, y_val) = load(batch)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    schedule = Schedule(optimizer, peak=4e-3, warmup=3 * len(train), total=epochs * len(train))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train:
            schedule.step()
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            accuracy = (model(x_val).argmax(1) == y_val).float().mean()
        print(f"epoch {epoch} loss {total / len(train):.4f} val {accuracy:.4f}")


run()
