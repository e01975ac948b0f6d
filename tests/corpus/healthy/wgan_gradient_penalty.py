import torch
import torch.nn as nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
C = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1)).to(device)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(C.parameters(), lr=1e-3, betas=(0.0, 0.9))
N_CRITIC, LAMBDA = 3, 10.0


def real_batch(n=64):
    sign = torch.randint(0, 2, (n, 1), device=device) * 2.0 - 1
    return sign * torch.tensor([1.5, 0.5], device=device) + 0.1 * torch.randn(n, 2, device=device)


def gradient_penalty(real, fake):
    t = torch.rand(real.size(0), 1, device=device)
    mix = (t * real + (1 - t) * fake).requires_grad_(True)
    grad, = torch.autograd.grad(C(mix).sum(), mix, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for it in range(30):
    for _ in range(N_CRITIC):
        real = real_batch()
        fake = G(torch.randn(64, 4, device=device)).detach()
        loss_c = C(fake).mean() - C(real).mean() + LAMBDA * gradient_penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -C(G(torch.randn(64, 4, device=device))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if it % 6 == 0:
        print(f"it {it} critic {loss_c.item():.5f} generator {loss_g.item():.5f}")
