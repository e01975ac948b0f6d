import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-3, (0.0, 0.9)), torch.optim.Adam(D.parameters(), 1e-3, (0.0, 0.9))
for it in range(60):
    for _ in range(5):
        real = torch.randn(64, 2) * 0.2 + 1
        fake = G(torch.randn(64, 4)).detach()
        u = torch.rand(64, 1)
        mid = (u * real + (1 - u) * fake).requires_grad_()
        (g,) = torch.autograd.grad(D(mid).sum(), mid, create_graph=True)
        gp = ((g.norm(dim=1) - 1) ** 2).mean()
        loss = D(fake).mean() - D(real).mean() + 10 * gp
        od.zero_grad()
        loss.backward()
        od.step()
    og.zero_grad()
    lg = -D(G(torch.randn(64, 4))).mean()
    lg.backward()
    og.step()
    if it % 20 == 0:
        print(it, loss.item(), lg.item())
