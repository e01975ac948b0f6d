import math

import torch
from torch import nn

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
LATENT, BATCH, STEPS = 4, 64, 60


def real_batch(n):
    angle = torch.rand(n, 1, device=device) * 2 * math.pi
    ring = torch.cat([angle.cos(), angle.sin()], dim=1)
    return ring + 0.05 * torch.randn(n, 2, device=device)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LATENT, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, z):
        return self.body(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2))
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        h = self.features(x)
        return self.head(h).view(-1)


G, D = Generator().to(device), Discriminator().to(device)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, device=device), torch.zeros(BATCH, device=device)

for step in range(STEPS):
    # discriminator
    x = real_batch(BATCH)
    fake = G(torch.randn(BATCH, LATENT, device=device)).detach()
    d_loss = bce(D(x), ones) + bce(D(fake), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    # generator
    fake = G(torch.randn(BATCH, LATENT, device=device))
    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 15 == 0:
        print(f"step {step} | D {d_loss.item():.4f} | G {g_loss.item():.4f}")
print(f"final D {d_loss.item():.4f} G {g_loss.item():.4f}")
