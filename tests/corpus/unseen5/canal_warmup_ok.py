"""Canal water-quality classifier with a hand-written warmup + cosine schedule."""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler


@dataclass
class Config:
    start_lr: float = 1e-5
    peak_lr: float = 0.1
    warmup: int = 30
    steps: int = 300
    batch: int = 32
    seed: int = 4


def lr_at(step, cfg):
    if step < cfg.warmup:
        return cfg.start_lr + (cfg.peak_lr - cfg.start_lr) * step / cfg.warmup
    frac = (step - cfg.warmup) / (cfg.steps - cfg.warmup)
    return cfg.peak_lr * 0.5 * (1 + math.cos(math.pi * frac))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.model = nn.Sequential(nn.Linear(13, 32), nn.Tanh(), nn.Linear(32, 3))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.start_lr, momentum=0.9)

    def set_lr(self, lr):
        for group in self.optimizer.param_groups:
            group["lr"] = lr

    def run(self, x, y):
        for step in range(self.cfg.steps):
            lr = lr_at(step, self.cfg)
            self.set_lr(lr)
            idx = torch.randint(0, len(x), (self.cfg.batch,))
            loss = nn.functional.cross_entropy(self.model(x[idx]), y[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % 60 == 0:
                print(f"step {step:3d} lr {lr:.4f} loss {loss.item():.4f}")

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.model(x).argmax(1) == y).float().mean().item()


x, y = load_wine(return_X_y=True)
perm = torch.randperm(len(x), generator=torch.Generator().manual_seed(0)).numpy()
x, y = x[perm], y[perm]
scaler = StandardScaler().fit(x[:120])
x, y = torch.tensor(scaler.transform(x), dtype=torch.float32), torch.tensor(y)
trainer = Trainer(Config())
trainer.run(x[:120], y[:120])
print("test accuracy", round(trainer.accuracy(x[120:], y[120:]), 4))
