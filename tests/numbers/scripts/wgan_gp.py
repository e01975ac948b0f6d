"""A critic with a gradient penalty and a generator every fifth step."""

import torch
from torch import nn

torch.manual_seed(0)
gen, critic = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt_c, opt_g = torch.optim.RMSprop(critic.parameters(), 1e-3), torch.optim.RMSprop(gen.parameters(), 1e-3)
for step in range(15):
    real = torch.randn(16, 4) * 0.5 + 1
    fake = gen(torch.randn(16, 3)).detach()
    mix = (0.3 * real + 0.7 * fake).requires_grad_()
    grad = torch.autograd.grad(critic(mix).sum(), mix, create_graph=True)[0]
    gp = ((grad.norm(dim=1) - 1) ** 2).mean()
    loss_c = critic(fake).mean() - critic(real).mean() + 10 * gp
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    if step % 5 == 4:
        loss_g = -critic(gen(torch.randn(16, 3))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        print(f"step {step}: critic {loss_c.item():.5f} gp {gp.item():.5f} generator {loss_g.item():.5f}")
