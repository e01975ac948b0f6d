"""Denoising diffusion on points of a ring."""
import math

import torch
from torch import nn


class Diffusion:
    def __init__(self, steps=60):
        self.steps = steps
        self.betas = torch.linspace(1e-3, 0.12, steps)
        self.alphas = 1 - self.betas
        self.alphas_bar = torch.cumprod(self.alphas, dim=0)

    def add_noise(self, x, t, noise):
        a = self.alphas_bar[t].unsqueeze(1)
        return a.sqrt() * x + (1 - a).sqrt() * noise

    @torch.no_grad()
    def sample(self, model, count):
        x = torch.randn(count, 2)
        for step in reversed(range(self.steps)):
            t = torch.full((count,), step)
            noise = model(x, t)
            scale = self.betas[step] / (1 - self.alphas_bar[step]).sqrt()
            x = (x - scale * noise) / self.alphas[step].sqrt()
            if step > 0:
                x = x + self.betas[step].sqrt() * torch.randn_like(x)
        return x


class Denoiser(nn.Module):
    def __init__(self, steps, width=64):
        super().__init__()
        self.time = nn.Embedding(steps, width)
        self.first = nn.Linear(2, width)
        self.rest = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.rest(self.first(x) + self.time(t))


def ring(count):
    angle = torch.rand(count) * 2 * math.pi
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def main():
    torch.manual_seed(64)
    diffusion = Diffusion()
    model = Denoiser(diffusion.steps)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(1200):
        x = ring(128)
        t = torch.randint(0, diffusion.steps, (128,))
        noise = torch.randn_like(x)
        noisy = diffusion.add_noise(x, t, noise)
        loss = nn.functional.mse_loss(model(noisy, t), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 400 == 399:
            print(f"step {step + 1} loss {loss.item():.4f}")
    model.eval()
    radius = diffusion.sample(model, 500).norm(dim=1)
    print(f"radius of samples {radius.mean().item():.3f} +- {radius.std().item():.3f}")


if __name__ == "__main__":
    main()
