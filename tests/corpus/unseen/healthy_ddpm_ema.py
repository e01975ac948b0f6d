import copy
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
T = 40


def cosine_beta_schedule(timesteps, s=0.008):
    x = torch.linspace(0, timesteps, timesteps + 1)
    ac = torch.cos(((x / timesteps) + s) / (1 + s) * math.pi * 0.5) ** 2
    ac = ac / ac[0]
    return torch.clip(1 - (ac[1:] / ac[:-1]), 0.0001, 0.999)


betas = cosine_beta_schedule(T)
alphas_cumprod = torch.cumprod(1.0 - betas, 0)


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        e = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
        e = t[:, None].float() * e[None]
        return torch.cat((e.sin(), e.cos()), dim=-1)


class Denoiser(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.time = nn.Sequential(TimeEmbedding(32), nn.Linear(32, dim), nn.SiLU())
        self.inp = nn.Linear(64, dim)
        self.mid = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.out = nn.Linear(dim, 64)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t)
        return self.out(h + self.mid(h))


def extract(a, t, shape):
    return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))


images = torch.tensor(load_digits().data / 8.0 - 1.0, dtype=torch.float32)
model = Denoiser()
ema_model = copy.deepcopy(model).eval().requires_grad_(False)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(300):
    x0 = images[torch.randint(0, len(images), (64,))]
    t = torch.randint(0, T, (64,))
    noise = torch.randn_like(x0)
    ac = extract(alphas_cumprod, t, x0.shape)
    loss = F.mse_loss(model(ac.sqrt() * x0 + (1 - ac).sqrt() * noise, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    decay = min(0.99, (1 + step) / (10 + step))
    with torch.no_grad():
        for e, p in zip(ema_model.parameters(), model.parameters()):
            e.lerp_(p, 1 - decay)
    if step % 60 == 0:
        print(f"step {step} loss {loss.item():.4f}")
x = torch.randn(32, 64)
with torch.no_grad():
    for i in reversed(range(T)):
        t = torch.full((32,), i)
        ac = alphas_cumprod[i]
        prev = alphas_cumprod[i - 1] if i > 0 else torch.tensor(1.0)
        eps = ema_model(x, t)
        x0 = ((x - (1 - ac).sqrt() * eps) / ac.sqrt()).clamp(-1, 1)
        x = prev.sqrt() * x0 + (1 - prev).sqrt() * eps
print("generated mean", x.mean().item(), "data mean", images.mean().item())
