"""Toy GAN: learn a ring of gaussians in 2-D."""
import math
import torch
from torch import nn

torch.manual_seed(7)
device = "cuda" if torch.cuda.is_available() else "cpu"
BATCH, Z, STEPS = 64, 4, 80


def sample_real(n):
    k = torch.randint(0, 8, (n,))
    angle = k.float() * (2 * math.pi / 8)
    centers = torch.stack([angle.cos(), angle.sin()], dim=1)
    return (centers + 0.05 * torch.randn(n, 2)).to(device)


G = nn.Sequential(nn.Linear(Z, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2)).to(device)
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones = torch.ones(BATCH, 1, device=device)
zeros = torch.zeros(BATCH, 1, device=device)

for step in range(STEPS):
    # discriminator
    real = sample_real(BATCH)
    fake = G(torch.randn(BATCH, Z, device=device))
    d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    # generator
    fake = G(torch.randn(BATCH, Z, device=device))
    for p in D.parameters():
        p.requires_grad_(False)
    g_loss = bce(D(fake), ones)
    G.zero_grad()
    g_loss.backward()
    opt_g.step()
    for p in D.parameters():
        p.requires_grad_(True)

    if step % 10 == 0:
        print("step %d  D %.5f  G %.5f" % (step, d_loss.item(), g_loss.item()))
