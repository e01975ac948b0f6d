import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(123)

batch_size = 64
z_dim = 8
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

theta = torch.rand(400) * 6.2832
ring = torch.stack([theta.cos(), theta.sin()], 1) + 0.05 * torch.randn(400, 2)
loader = DataLoader(TensorDataset(ring), batch_size=batch_size, shuffle=True)

G = nn.Sequential(nn.Linear(z_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)

bce = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))

for epoch in range(6):
    for (real,) in loader:
        real = real.to(device)
        ones = torch.ones(batch_size, 1, device=device)
        zeros = torch.zeros(batch_size, 1, device=device)

        fake = G(torch.randn(batch_size, z_dim, device=device))
        d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

        g_loss = bce(D(fake), ones)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
    print(f"[{epoch}] D {d_loss.item():.5f}  G {g_loss.item():.5f}")
