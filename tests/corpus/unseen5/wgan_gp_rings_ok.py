"""WGAN-GP on two concentric rings."""
import math

import torch
from torch import autograd, nn, optim

LATENT = 4
LAMBDA = 5.0
CRITIC_ITERS = 3


def rings(n):
    radius = torch.where(torch.rand(n) < 0.5, 1.0, 2.0)
    theta = torch.rand(n) * 2 * math.pi
    pts = torch.stack([radius * theta.cos(), radius * theta.sin()], 1)
    return pts + 0.03 * torch.randn(n, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, o))


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    x_hat = (eps * real + (1 - eps) * fake).detach().requires_grad_(True)
    score = critic(x_hat)
    grads = autograd.grad(outputs=score, inputs=x_hat, grad_outputs=torch.ones_like(score),
                          create_graph=True, retain_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


def main():
    torch.manual_seed(9)
    gen, critic = mlp(LATENT, 2), mlp(2, 1)
    opt_g = optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.9))
    opt_c = optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    for it in range(80):
        for _ in range(CRITIC_ITERS):
            real = rings(64)
            fake = gen(torch.randn(64, LATENT)).detach()
            gp = gradient_penalty(critic, real, fake)
            loss_c = critic(fake).mean() - critic(real).mean() + LAMBDA * gp
            opt_c.zero_grad()
            loss_c.backward()
            opt_c.step()
        loss_g = -critic(gen(torch.randn(64, LATENT))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        if it % 20 == 0:
            print(f"{it:4d} critic {loss_c.item():+.3f} gen {loss_g.item():+.3f}")


if __name__ == "__main__":
    main()
