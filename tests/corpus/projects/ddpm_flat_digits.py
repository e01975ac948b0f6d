"""DDPM on flattened digits, epsilon prediction."""
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class Diffusion:
    def __init__(self, steps=100):
        self.steps = steps
        betas = torch.linspace(1e-4, 0.05, steps)
        self.alpha_bar = torch.cumprod(1 - betas, dim=0)

    def q_sample(self, x0, t, noise):
        scale = self.alpha_bar[t]
        return scale.sqrt() * x0 + (1 - scale).sqrt() * noise


class TimeEmbedding(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("freqs", torch.exp(-math.log(1000.0) * torch.arange(size // 2) / (size // 2)))

    def forward(self, t):
        angles = t[:, None].float() * self.freqs[None]
        return torch.cat([angles.sin(), angles.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, features=64, width=192):
        super().__init__()
        self.time = nn.Sequential(TimeEmbedding(32), nn.Linear(32, width), nn.SiLU())
        self.enter = nn.Linear(features, width)
        self.middle = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.leave = nn.Linear(width, features)

    def forward(self, x, t):
        h = self.enter(x) + self.time(t)
        return self.leave(F.silu(h + self.middle(h)))


def training_loss(model, diffusion, x0):
    t = torch.randint(0, diffusion.steps, (len(x0),))
    noise = torch.randn_like(x0)
    return F.mse_loss(model(diffusion.q_sample(x0, t, noise), t), noise)


def main():
    torch.manual_seed(0)
    data = torch.tensor(load_digits().data, dtype=torch.float32) / 8 - 1
    diffusion, model = Diffusion(), Denoiser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(12):
        losses = []
        for rows in torch.randperm(len(data))[:1792].split(64):
            loss = training_loss(model, diffusion, data[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 3 == 2:
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
