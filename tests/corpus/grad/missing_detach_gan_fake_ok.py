import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(3)
real_images = torch.tensor(load_digits().data, dtype=torch.float32) / 8 - 1

G = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh())
D = nn.Sequential(nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
optG = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))


def d_loss_fn(real_logits, fake_logits):
    return F.softplus(-real_logits).mean() + F.softplus(fake_logits).mean()


def g_loss_fn(fake_logits):
    return F.softplus(-fake_logits).mean()


for it in range(80):
    optG.zero_grad()
    optD.zero_grad()
    real = real_images[torch.randint(0, len(real_images), (64,))]
    fake = G(torch.randn(64, 8))

    d_loss = d_loss_fn(D(real), D(fake.detach()))
    d_loss.backward()
    optD.step()

    g_loss = g_loss_fn(D(G(torch.randn(64, 8))))
    g_loss.backward()
    optG.step()

    if it % 16 == 0:
        print(f"[{it:3d}] d {d_loss.item():.5f} g {g_loss.item():.5f}")
