"""Denoising diffusion on a six-armed 2-D snowflake."""
import math

import torch
import torch.nn as nn

STEPS = 40


def snowflake(n):
    arm = torch.randint(0, 6, (n,)).float() * math.pi / 3
    r = torch.rand(n) * 2.0
    pts = torch.stack([r * arm.cos(), r * arm.sin()], 1)
    return pts + 0.03 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2 + 8, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2)
        )

    def forward(self, x, t):
        ang = t.float()[:, None] / STEPS * math.pi * torch.tensor([1.0, 2.0, 4.0, 8.0])
        return self.net(torch.cat([x, ang.sin(), ang.cos()], 1))


class Diffusion:
    def __init__(self):
        self.beta = torch.linspace(1e-3, 0.2, STEPS)
        self.alpha = 1 - self.beta
        self.alpha_bar = self.alpha.cumprod(0)

    def q_sample(self, x0, t, noise):
        ab = self.alpha_bar[t][:, None]
        return ab.sqrt() * x0 + (1 - ab) * noise

    @torch.no_grad()
    def sample(self, model, n):
        x = torch.randn(n, 2)
        for i in reversed(range(STEPS)):
            t = torch.full((n,), i)
            eps = model(x, t)
            mean = (x - self.beta[i] / (1 - self.alpha_bar[i]).sqrt() * eps) / self.alpha[i].sqrt()
            x = mean + (self.beta[i].sqrt() * torch.randn(n, 2) if i > 0 else 0)
        return x


def main():
    torch.manual_seed(10)
    diff, model = Diffusion(), Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for it in range(2000):
        x0 = snowflake(128)
        t = torch.randint(0, STEPS, (128,))
        noise = torch.randn_like(x0)
        loss = nn.functional.mse_loss(model(diff.q_sample(x0, t, noise), t), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 400 == 0:
            print(f"iter {it} loss {loss.item():.4f}")
    fake, real = diff.sample(model, 600), snowflake(600)
    energy = 2 * torch.cdist(fake, real).mean() - torch.cdist(fake, fake).mean() - torch.cdist(real, real).mean()
    near = torch.cdist(fake, real).min(1).values.mean()
    print(f"energy distance {energy.item():.4f} nearest-neighbour distance {near.item():.4f} std {fake.std().item():.3f}")


if __name__ == "__main__":
    main()
