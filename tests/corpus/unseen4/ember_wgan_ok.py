import torch
import torch.nn as nn

torch.manual_seed(6)


def real_batch(n):
    k = torch.randint(0, 2, (n, 1)).float() * 4 - 2
    return torch.cat([k, -k], dim=1) + 0.3 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
C = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=2e-3, betas=(0.0, 0.9))


def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_()
    grad = torch.autograd.grad(C(mix).sum(), mix, create_graph=True)[0]
    return ((grad.norm(dim=1) - 1) ** 2).mean()


for it in range(200):
    for _ in range(3):
        real = real_batch(64)
        with torch.no_grad():
            fake = G(torch.randn(64, 4))
        loss_c = C(fake).mean() - C(real).mean() + 10 * gradient_penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    for p in C.parameters():
        p.requires_grad_(False)
    loss_g = -C(G(torch.randn(64, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    for p in C.parameters():
        p.requires_grad_(True)
    if it % 50 == 49:
        print(f"iter {it + 1}: critic {loss_c.item():.3f} generator {loss_g.item():.3f}")
with torch.no_grad():
    print("generated abs mean", G(torch.randn(500, 4)).abs().mean(0).tolist())
