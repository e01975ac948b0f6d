import math

import torch
import torch.nn as nn

torch.manual_seed(4)
Z = 8


def sample_ring(n):
    k = torch.randint(0, 8, (n,))
    ang = 2 * math.pi * k / 8
    return torch.stack([ang.cos(), ang.sin()], 1) + 0.05 * torch.randn(n, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, o))


gen, disc = mlp(Z, 2), mlp(2, 1)
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(disc.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
real_label, fake_label = torch.ones(128, 1), torch.zeros(128, 1)

for step in range(400):
    real = sample_ring(128)
    fake = gen(torch.randn(128, Z))

    # discriminator
    fake_score = disc(fake)
    d_loss = bce(disc(real), real_label) + bce(fake_score, fake_label)
    opt_d.zero_grad()
    d_loss.backward(retain_graph=True)
    opt_d.step()

    # generator
    g_loss = bce(fake_score, real_label)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 100 == 0:
        print(f"{step:4d} d {d_loss.item():.3f} g {g_loss.item():.3f}")

with torch.no_grad():
    pts = gen(torch.randn(1000, Z))
print("mean radius", pts.norm(dim=1).mean().item())
