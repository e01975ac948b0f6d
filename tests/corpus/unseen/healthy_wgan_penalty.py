import math

import torch
from torch import autograd, nn, optim

torch.manual_seed(1)
DIM, LAMBDA, CRITIC_ITERS, BATCH = 48, 0.1, 4, 64


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, DIM), nn.ReLU(True), nn.Linear(DIM, DIM), nn.ReLU(True), nn.Linear(DIM, 2))

    def forward(self, noise):
        return self.main(noise)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, DIM), nn.ReLU(True), nn.Linear(DIM, DIM), nn.ReLU(True), nn.Linear(DIM, 1))

    def forward(self, x):
        return self.main(x).view(-1)


def inf_train_gen():
    while True:
        k = torch.randint(0, 8, (BATCH,)).float() * math.pi / 4
        yield torch.stack([k.cos(), k.sin()], 1) + 0.02 * torch.randn(BATCH, 2)


def calc_gradient_penalty(netD, real, fake):
    alpha = torch.rand(BATCH, 1).expand(real.size())
    inter = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = netD(inter)
    grad = autograd.grad(outputs=out, inputs=inter, grad_outputs=torch.ones_like(out),
                         create_graph=True, retain_graph=True, only_inputs=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


netG, netD = Generator(), Discriminator()
optimizerD = optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))
optimizerG = optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
data = inf_train_gen()
for iteration in range(120):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(CRITIC_ITERS):
        real = next(data)
        netD.zero_grad()
        D_real = -netD(real).mean()
        D_real.backward()
        with torch.no_grad():
            fake = netG(torch.randn(BATCH, 2))
        D_fake = netD(fake).mean()
        D_fake.backward()
        gp = calc_gradient_penalty(netD, real, fake)
        gp.backward()
        optimizerD.step()
    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    G = -netD(netG(torch.randn(BATCH, 2))).mean()
    G.backward()
    optimizerG.step()
    if iteration % 30 == 29:
        print(f"iter {iteration + 1} W {(-D_real - D_fake).item():.4f} gp {gp.item():.4f}")
