import os
import tempfile
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class TrainConfig:
    hidden: int = 32
    lr: float = 5e-3
    epochs: int = 16
    seed: int = 0


def spirals(n):
    t = torch.rand(n) * 6 + 0.5
    y = torch.randint(0, 2, (n,))
    angle = t + y * 3.14159
    pts = torch.stack([t * torch.cos(angle), t * torch.sin(angle)], 1) / 4
    return pts + 0.03 * torch.randn(n, 2), y


def build(cfg):
    return nn.Sequential(
        nn.Linear(2, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, 2))


def train(cfg, path):
    torch.manual_seed(cfg.seed)
    model = build(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    x, y = spirals(1000)
    for epoch in range(cfg.epochs):
        for idx in torch.randperm(len(x)).split(25):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    torch.save({"cfg": cfg, "model": model.state_dict()}, path)


def evaluate(path):
    ckpt = torch.load(path, map_location="cpu")
    cfg = ckpt["cfg"]
    if isinstance(cfg, dict):
        cfg = TrainConfig(**cfg)
    model = build(cfg)
    model.load_state_dict(ckpt["model"])
    x, y = spirals(400)
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


path = os.path.join(tempfile.mkdtemp(), "spiral.ckpt")
train(TrainConfig(), path)
print("accuracy of the loaded model", evaluate(path))
