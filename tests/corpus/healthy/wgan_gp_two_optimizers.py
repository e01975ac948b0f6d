import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

gen = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-4, betas=(0.0, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
for step in range(9):
    real = torch.randn(32, 2) * 0.5 + 1
    fake = gen(torch.randn(32, 4)).detach()
    mix = torch.rand(32, 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
    loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    if step % 3 == 2:
        loss_g = -critic(gen(torch.randn(32, 4))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
print(loss_c.item(), loss_g.item())
