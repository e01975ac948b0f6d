import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 3e-3)
W = torch.randn(4, 3)
for it in range(150):
    s = torch.randn(64, 4)
    d = Categorical(logits=actor(s))
    a = d.sample()
    r = (s @ W)[torch.arange(64), a] + 0.1 * torch.randn(64)
    v = critic(s).squeeze(-1)
    adv = r - v
    policy_loss = -(d.log_prob(a) * adv).mean()
    value_loss = (r - v).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * d.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 30 == 0:
        print(it, r.mean().item(), value_loss.item())
