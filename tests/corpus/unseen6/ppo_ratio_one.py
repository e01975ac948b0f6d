import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
vf = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*pi.parameters(), *vf.parameters()], 3e-3)
W = torch.randn(4, 3)


def rollout(n=256):
    s = torch.randn(n, 4)
    with torch.no_grad():
        d = Categorical(logits=pi(s))
        a = d.sample()
        lp = d.log_prob(a)
    r = (s @ W)[torch.arange(n), a]
    return s, a, lp, r


for it in range(25):
    s, a, old, r = rollout()
    with torch.no_grad():
        adv = r - vf(s).squeeze(-1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        for idx in torch.randperm(256).split(64):
            d = Categorical(logits=pi(s[idx]))
            logp = d.log_prob(a[idx])
            ratio = (logp - logp.detach()).exp()
            clipped = ratio.clamp(0.8, 1.2)
            loss_pi = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean()
            loss_v = (vf(s[idx]).squeeze(-1) - r[idx]).pow(2).mean()
            loss = loss_pi + 0.5 * loss_v - 0.01 * d.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    if it % 5 == 0:
        print(it, "reward", r.mean().item())
