import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.5, 0.99))
od = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
one, zero = torch.ones(64, 1), torch.zeros(64, 1)


def real(n):
    a = torch.rand(n) * 6.283
    return torch.stack([a.cos(), a.sin()], 1) + 0.05 * torch.randn(n, 2)


for step in range(300):
    x = real(64)
    fake = G(torch.randn(64, 8))
    og.zero_grad()
    od.zero_grad()
    loss_d = bce(D(x), one) + bce(D(fake), zero)
    loss_d.backward(retain_graph=True)
    od.step()

    loss_g = bce(D(fake), one)
    loss_g.backward()
    og.step()
    if step % 60 == 0:
        print(step, loss_d.item(), loss_g.item())
