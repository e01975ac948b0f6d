"""Hinge-loss GAN with spectral norm, two critic steps per generator step, generator loss may be negative."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import spectral_norm


def eight_gaussians(n):
    k = torch.randint(0, 8, (n,)).float() * 3.14159 / 4
    return torch.stack([k.cos(), k.sin()], 1) * 1.5 + 0.1 * torch.randn(n, 2)


class G(nn.Module):
    def __init__(self, nz=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(nz, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, z):
        return self.net(z)


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            spectral_norm(nn.Linear(2, 64)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Linear(64, 64)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Linear(64, 1)),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


torch.manual_seed(23)
gen, dis = G(), D()
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(dis.parameters(), lr=2e-3, betas=(0.0, 0.9))
for step in range(300):
    dis.requires_grad_(True)
    for _ in range(2):
        with torch.no_grad():
            fake = gen(torch.randn(64, 8))
        loss_d = F.relu(1 - dis(eight_gaussians(64))).mean() + F.relu(1 + dis(fake)).mean()
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
    dis.requires_grad_(False)
    loss_g = -dis(gen(torch.randn(64, 8))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 60 == 0:
        print(f"step {step} D {loss_d.item():.3f} G {loss_g.item():+.3f}")
with torch.no_grad():
    s = gen(torch.randn(500, 8))
print("mean radius", s.norm(dim=1).mean().item())
