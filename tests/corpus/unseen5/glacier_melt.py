"""Melt rate regression with a resumable checkpoint."""
import os
import tempfile
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn


@dataclass
class MeltConfig:
    hidden: int = 32
    lr: float = 3e-3
    epochs: int = 40


def observations(n=300):
    temp = torch.randn(n) * 6
    snow = torch.rand(n) * 3
    debris = torch.rand(n)
    melt = torch.relu(temp) * (1 - 0.6 * debris) / (1 + snow) + 0.1 * torch.randn(n)
    return torch.stack([temp / 6, snow, debris], 1), melt[:, None]


def make_model(cfg):
    return nn.Sequential(nn.Linear(3, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, 1))


def train(cfg, model, x, y):
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for _ in range(cfg.epochs):
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return opt, loss.item()


def main():
    torch.manual_seed(21)
    cfg = MeltConfig()
    x, y = observations()
    model = make_model(cfg)
    opt, loss = train(cfg, model, x, y)
    print(f"stage 1 loss {loss:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "melt.pt")
        torch.save({"model": model.state_dict(), "optim": opt.state_dict(), "cfg": cfg}, path)
        ckpt = torch.load(path)
        cfg = ckpt["cfg"]
    resumed = make_model(cfg)
    resumed.load_state_dict(ckpt["model"])
    _, loss = train(cfg, resumed, x, y)
    print(f"stage 2 loss {loss:.4f}", asdict(cfg))


if __name__ == "__main__":
    main()
