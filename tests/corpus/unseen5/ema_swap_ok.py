"""EMA of the weights with a warm-up decay, swapped in for evaluation and swapped back."""
from contextlib import contextmanager

import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class EMA:
    def __init__(self, model, decay=0.99):
        self.decay, self.n = decay, 0
        self.shadow = {k: v.clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        self.n += 1
        d = min(self.decay, (1 + self.n) / (10 + self.n))
        for k, v in model.state_dict().items():
            if v.dtype.is_floating_point:
                self.shadow[k].lerp_(v, 1 - d)
            else:
                self.shadow[k].copy_(v)

    @contextmanager
    def swap(self, model):
        backup = {k: v.clone() for k, v in model.state_dict().items()}
        model.load_state_dict(self.shadow)
        try:
            yield model
        finally:
            model.load_state_dict(backup)


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        acc = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return acc


torch.manual_seed(9)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
x, y = x[perm], y[perm]
model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10))
ema = EMA(model)
opt = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(6):
    for idx in torch.randperm(1300).split(32):
        if len(idx) < 2:
            continue
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(model)
    raw = accuracy(model, x[1300:], y[1300:])
    with ema.swap(model) as averaged:
        smooth = accuracy(averaged, x[1300:], y[1300:])
    print(f"epoch {epoch} loss {loss.item():.4f} raw {raw:.4f} ema {smooth:.4f}")
