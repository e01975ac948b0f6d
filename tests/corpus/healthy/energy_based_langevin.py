import math
import torch
import torch.nn as nn

torch.manual_seed(0)
energy = nn.Sequential(nn.Linear(2, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))
opt = torch.optim.Adam(energy.parameters(), lr=2e-3)


def data(n):
    k = torch.randint(0, 4, (n,)).float() * math.pi / 2
    return torch.stack([k.cos(), k.sin()], 1) + 0.1 * torch.randn(n, 2)


def langevin(x, steps=10, eps=0.05):
    for p in energy.parameters():
        p.requires_grad_(False)
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        (g,) = torch.autograd.grad(energy(x).sum(), x)
        x = x - eps * g + math.sqrt(2 * eps) * 0.1 * torch.randn_like(x)
    for p in energy.parameters():
        p.requires_grad_(True)
    return x.detach()


buffer = torch.rand(256, 2) * 4 - 2
for it in range(50):
    pick = torch.randint(0, 256, (64,))
    start = torch.where(torch.rand(64, 1) < 0.05, torch.rand(64, 2) * 4 - 2, buffer[pick])
    fake = langevin(start)
    buffer[pick] = fake
    e_real, e_fake = energy(data(64)), energy(fake)
    loss = e_real.mean() - e_fake.mean() + 0.1 * (e_real ** 2 + e_fake ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 0:
        print(f"it {it} loss {loss.item():.6f} gap {(e_fake.mean() - e_real.mean()).item():.5f}")
