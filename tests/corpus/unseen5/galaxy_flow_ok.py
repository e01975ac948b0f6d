"""Affine coupling flow on a two-armed galaxy."""
import math

import torch
import torch.nn as nn


def galaxy(n):
    r = torch.rand(n) * 2 + 0.3
    arm = torch.randint(0, 2, (n,)).float() * math.pi
    a = 1.5 * r + arm
    return torch.stack([r * a.cos(), r * a.sin()], 1) + 0.1 * torch.randn(n, 2)


class Coupling(nn.Module):
    def __init__(self, flip, hidden=48):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                 nn.Linear(hidden, 2))

    def params(self, a):
        s, t = self.net(a).chunk(2, dim=1)
        return torch.tanh(s) * 1.5, t

    def forward(self, x):
        a, b = (x[:, 1:], x[:, :1]) if self.flip else (x[:, :1], x[:, 1:])
        s, t = self.params(a)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], 1), s.squeeze(1)

    def inverse(self, z):
        a, b = (z[:, 1:], z[:, :1]) if self.flip else (z[:, :1], z[:, 1:])
        s, t = self.params(a)
        b = (b - t) * (-s).exp()
        return torch.cat([b, a] if self.flip else [a, b], 1)


class Flow(nn.Module):
    def __init__(self, layers=6):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(layers))

    def log_prob(self, x):
        logdet = torch.zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        base = -0.5 * (x ** 2).sum(1) - math.log(2 * math.pi)
        return base + logdet

    @torch.no_grad()
    def sample(self, n):
        z = torch.randn(n, 2)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


torch.manual_seed(72)
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=2e-3)
for it in range(400):
    loss = -flow.log_prob(galaxy(128)).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    opt.step()
    if it % 100 == 0:
        print(f"iter {it} nll {loss.item():.4f}")
fake, real = flow.sample(500), galaxy(500)
print("nearest real point (mean distance)", torch.cdist(fake, real).min(1).values.mean().item())
print("sample std", fake.std(0).tolist(), "data std", real.std(0).tolist())
