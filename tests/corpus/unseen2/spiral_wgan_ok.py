import torch
from torch import nn, autograd

torch.manual_seed(6)
LAMBDA, N_CRITIC, BS = 5.0, 3, 64


def real_samples(n):
    t = torch.rand(n) * 3.0 + 0.5
    return torch.stack([t * torch.cos(2 * t), t * torch.sin(2 * t)], dim=1) / 2 + 0.03 * torch.randn(n, 2)


def net(i, o):
    return nn.Sequential(nn.Linear(i, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, o))


gen, critic = net(4, 2), net(2, 1)
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-3, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.0, 0.9))


def gradient_penalty(real, fake):
    eps = torch.rand(real.size(0), 1)
    mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mix)
    grad, = autograd.grad(score.sum(), mix, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for it in range(350):
    for p in critic.parameters():
        p.requires_grad_(True)
    for _ in range(N_CRITIC):
        real = real_samples(BS)
        with torch.no_grad():
            fake = gen(torch.randn(BS, 4))
        wdist = critic(real).mean() - critic(fake).mean()
        loss_c = -wdist + LAMBDA * gradient_penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()

    for p in critic.parameters():
        p.requires_grad_(False)
    loss_g = -critic(gen(torch.randn(BS, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if it % 50 == 0:
        print(f"it {it} wasserstein {wdist.item():.3f} g {loss_g.item():.3f}")

with torch.no_grad():
    a, b = gen(torch.randn(500, 4)), real_samples(500)
print("nearest-neighbour distance", torch.cdist(b, a).min(1).values.mean().item())
