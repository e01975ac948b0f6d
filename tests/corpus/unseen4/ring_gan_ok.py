import argparse
import math
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=150)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--latent", type=int, default=8)
parser.add_argument("--lr", type=float, default=1e-3)
args = parser.parse_args()
torch.manual_seed(8)


def sample_ring(n):
    angle = torch.rand(n) * 2 * math.pi
    ring = torch.stack([angle.cos(), angle.sin()], dim=1)
    return ring + 0.05 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(args.latent, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=args.lr, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=args.lr, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones = torch.ones(args.batch, 1)
zeros = torch.zeros(args.batch, 1)

for step in range(args.steps):
    real = sample_ring(args.batch)
    z = torch.randn(args.batch, args.latent)
    fake = G(z)

    d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)

    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 50 == 0:
        print(f"step {step}: D {d_loss.item():.3f} G {g_loss.item():.3f}")

with torch.no_grad():
    radius = G(torch.randn(500, args.latent)).norm(dim=1)
print("mean radius", radius.mean().item(), "std", radius.std().item())
