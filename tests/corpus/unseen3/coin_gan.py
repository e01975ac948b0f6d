import torch
from torch import nn

torch.manual_seed(5)


def real_batch(n):
    side = (torch.rand(n, 1) < 0.5).float() * 2 - 1
    return torch.cat([side * 2, side * -1], 1) + 0.15 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self, z_dim=4):
        super().__init__()
        self.z_dim = z_dim
        self.net = nn.Sequential(nn.Linear(z_dim, 48), nn.LeakyReLU(0.2), nn.Linear(48, 2))

    def forward(self, n):
        return self.net(torch.randn(n, self.z_dim))


G = Generator()
D = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
BATCH = 64
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

for it in range(1000):
    real, fake = real_batch(BATCH), G(BATCH)
    loss_d = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = bce(D(fake.detach()), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if it % 200 == 0:
        print(f"iter {it} D {loss_d.item():.3f} G {loss_g.item():.3f}")

with torch.no_grad():
    sample, data = G(500), real_batch(500)
    dist = torch.cdist(sample, data).min(1).values.mean()
print(f"mean distance of samples to the data {dist:.3f}")
