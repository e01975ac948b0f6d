import copy
import random

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
actor, critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh()), nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
ta, tc = copy.deepcopy(actor), copy.deepcopy(critic)
oa, oc = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 2e-3)
buf, s = [], torch.randn(2)
for step in range(400):
    with torch.no_grad():
        a = (actor(s) + 0.2 * torch.randn(1)).clamp(-1, 1)
    s2 = (s + 0.2 * torch.cat([a, s[:1]])).clamp(-2, 2)
    r = -(s2.pow(2).sum())
    buf.append((s, a, r[None], s2))
    s = torch.randn(2) if step % 20 == 19 else s2
    if step < 64:
        continue
    bs, ba, br, bn = map(torch.stack, zip(*random.sample(buf, 32)))
    with torch.no_grad():
        y = br + 0.9 * tc(torch.cat([bn, ta(bn)], 1))
    lc = (critic(torch.cat([bs, ba], 1)) - y).pow(2).mean()
    oc.zero_grad()
    lc.backward()
    oc.step()
    la = -critic(torch.cat([bs, actor(bs)], 1)).mean()
    oa.zero_grad()
    la.backward()
    oa.step()
    with torch.no_grad():
        for t, m in ((ta, actor), (tc, critic)):
            for p, q in zip(t.parameters(), m.parameters()):
                p.lerp_(q, 0.02)
    if step % 100 == 99:
        print(step, lc.item(), la.item())
