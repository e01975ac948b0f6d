"""Three wine cultivars, a small MLP and a trainer object."""
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_wine
from torch import nn


@dataclass
class Config:
    hidden: int = 24
    lr: float = 1e-2
    epochs: int = 15
    batch_size: int = 24
    seed: int = 7


class Trainer:
    def __init__(self, net, cfg):
        self.net = net
        self.cfg = cfg
        self.opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def batches(self, n):
        order = torch.randperm(n)
        for start in range(0, n, self.cfg.batch_size):
            yield order[start:start + self.cfg.batch_size]

    def fit(self, x, y, x_val, y_val):
        for epoch in range(self.cfg.epochs):
            self.net.train()
            seen, total = 0, 0.0
            for idx in self.batches(len(x)):
                loss = self.loss_fn(self.net(x[idx]), y[idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                total += loss.item() * len(idx)
                seen += len(idx)
            if epoch % 5 == 4:
                print(f"epoch {epoch:02d} train {total / seen:.5f} val acc {self.accuracy(x_val, y_val):.4f}")

    @torch.no_grad()
    def accuracy(self, x, y):
        self.net.eval()
        return (self.net(x).argmax(1) == y).float().mean().item()


def load(seed):
    rng = np.random.default_rng(seed)
    data = load_wine()
    order = rng.permutation(len(data.target))
    x, y = data.data[order].astype("float32"), data.target[order]
    cut = 130
    mean, std = x[:cut].mean(0), x[:cut].std(0)
    x = (x - mean) / std
    return torch.from_numpy(x[:cut]), torch.from_numpy(y[:cut]), torch.from_numpy(x[cut:]), torch.from_numpy(y[cut:])


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    x, y, x_val, y_val = load(cfg.seed)
    net = nn.Sequential(
        nn.Linear(13, cfg.hidden),
        nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(cfg.hidden, 3),
    )
    Trainer(net, cfg).fit(x, y, x_val, y_val)


if __name__ == "__main__":
    main()
