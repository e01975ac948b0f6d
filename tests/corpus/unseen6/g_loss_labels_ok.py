import torch
from torch import nn

torch.manual_seed(1)
G = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
D = nn.Sequential(nn.Linear(1, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1), nn.Sigmoid())
og, od = torch.optim.Adam(G.parameters(), 2e-3), torch.optim.Adam(D.parameters(), 1e-3)
bce = nn.BCELoss()
for step in range(300):
    real = torch.randn(64, 1) * 0.5 + 3
    fake = G(torch.randn(64, 6))
    valid, fooled = torch.ones(64, 1), torch.zeros(64, 1)
    od.zero_grad()
    d_loss = (bce(D(real), valid) + bce(D(fake.detach()), fooled)) / 2
    d_loss.backward()
    od.step()
    og.zero_grad()
    g_loss = bce(D(fake), valid)
    g_loss.backward()
    og.step()
    if step % 60 == 0:
        print(step, d_loss.item(), g_loss.item(), fake.mean().item())
