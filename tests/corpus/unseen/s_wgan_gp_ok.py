import torch
import torch.nn as nn

torch.manual_seed(0)
LAMBDA, N_CRITIC, Z = 10.0, 3, 4


def real_batch(n):
    side = (torch.rand(n, 1) < 0.5).float() * 2 - 1
    return torch.cat([side * 1.5, side * 0.5], 1) + 0.1 * torch.randn(n, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, o))


def gradient_penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1)
    inter = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    score = critic(inter)
    grads = torch.autograd.grad(score.sum(), inter, create_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


critic, gen = mlp(2, 1), mlp(Z, 2)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.0, 0.9))

for it in range(500):
    for _ in range(N_CRITIC):
        real = real_batch(64)
        fake = gen(torch.randn(64, Z)).detach()
        gp = gradient_penalty(critic, real, fake)
        loss_c = critic(fake).mean() - critic(real).mean() + LAMBDA * gp
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -critic(gen(torch.randn(64, Z))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if it % 100 == 99:
        print(f"iter {it + 1} critic {loss_c.item():.3f} penalty {gp.item():.3f} gen {loss_g.item():.3f}")

with torch.no_grad():
    fake, real = gen(torch.randn(800, Z)), real_batch(800)
    d = torch.cdist(fake, real)
    slope = critic(real).mean() - critic(fake).mean()
print(f"samples to data {d.min(1).values.mean():.4f} data to samples {d.min(0).values.mean():.4f} critic gap {slope:.3f}")
