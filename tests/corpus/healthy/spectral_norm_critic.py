import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(0)
D = nn.Sequential(spectral_norm(nn.Linear(2, 32)), nn.ReLU(), spectral_norm(nn.Linear(32, 32)), nn.ReLU(), spectral_norm(nn.Linear(32, 1)))
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))


def real(n):
    x = torch.rand(n, 1) * 2 - 1
    return torch.cat([x, x.pow(2)], dim=1) + 0.02 * torch.randn(n, 2)


for step in range(60):
    opt_d.zero_grad()
    fake = G(torch.randn(64, 4))
    loss_d = (1 - D(real(64))).relu().mean() + (1 + D(fake.detach())).relu().mean()
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = -D(fake).mean()
    loss_g.backward()
    opt_g.step()
    if step % 12 == 0:
        print(f"{step:2d} d {loss_d.item():.5f} g {loss_g.item():.5f}")
