import math

import torch
import torch.nn as nn
import torch.nn.functional as F

T = 40
betas = torch.linspace(1e-3, 0.12, T)
alpha_bar = torch.cumprod(1 - betas, dim=0)


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


def ring(n, gen):
    angle = 2 * math.pi * torch.rand(n, generator=gen)
    return torch.stack([angle.cos(), angle.sin()], dim=1)


def train_step(model, opt, x0):
    torch.manual_seed(42)
    t = torch.randint(0, T, (len(x0),))
    noise = torch.randn_like(x0)
    a = alpha_bar[t].unsqueeze(1)
    x_t = a.sqrt() * x0 + (1 - a).sqrt() * noise
    loss = F.mse_loss(model(x_t, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def main():
    torch.manual_seed(42)
    data_gen = torch.Generator().manual_seed(7)
    model = Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    recent = []
    for step in range(100):
        recent.append(train_step(model, opt, ring(64, data_gen)))
        if step % 20 == 19:
            print(f"step {step + 1} loss {sum(recent[-20:]) / 20:.6f}")


main()
