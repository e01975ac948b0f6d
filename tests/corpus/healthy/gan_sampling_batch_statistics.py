"""GAN with batch norm; sampling uses batch statistics, as the generator was trained."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
Z = 8


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(Z, 48), nn.BatchNorm1d(48, track_running_stats=False), nn.ReLU(),
            nn.Linear(48, 48), nn.BatchNorm1d(48, track_running_stats=False), nn.ReLU(),
            nn.Linear(48, 2))

    def forward(self, z):
        return self.net(z)


def real(n):
    t = torch.rand(n, 1) * 3.14159
    return torch.cat([t.cos(), t.sin()], dim=1) + 0.03 * torch.randn(n, 2)


G = Generator()
D = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(G.parameters(), 2e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), 2e-3, betas=(0.5, 0.99))
fixed_z = torch.randn(64, Z)
for step in range(60):
    with torch.no_grad():
        fake = G(torch.randn(64, Z))
    d_loss = F.softplus(-D(real(64))).mean() + F.softplus(D(fake)).mean()
    opt_d.zero_grad(); d_loss.backward(); opt_d.step()

    g_loss = F.softplus(-D(G(torch.randn(64, Z)))).mean()
    opt_g.zero_grad(); g_loss.backward(); opt_g.step()
    if step % 15 == 0:
        with torch.no_grad():
            sample = G(fixed_z)
        print(f"step {step} d {d_loss.item():.5f} g {g_loss.item():.5f} radius {sample.norm(dim=1).mean().item():.4f}")
