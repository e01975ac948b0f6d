import math

import torch
from torch import nn

torch.manual_seed(42)
latent_dim = 8
batch_size = 64


def sample_real(n):
    angle = torch.randint(0, 8, (n,)).float() * (2 * math.pi / 8)
    centers = torch.stack([torch.cos(angle), torch.sin(angle)], 1)
    return 2 * centers + 0.05 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent_dim, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x)


G = Generator()
D = Discriminator()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(batch_size, 1), torch.zeros(batch_size, 1)

for it in range(400):
    real = sample_real(batch_size)
    fake = G(torch.randn(batch_size, latent_dim))

    opt_d.zero_grad()
    d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(D(fake.detach()), ones)
    g_loss.backward()
    opt_g.step()
    if it % 100 == 0:
        print(f"[{it}] d {d_loss.item():.3f} g {g_loss.item():.3f}")

with torch.no_grad():
    s = G(torch.randn(512, latent_dim))
print(f"mean radius of samples {s.norm(dim=1).mean():.3f} (real 2.0)")
