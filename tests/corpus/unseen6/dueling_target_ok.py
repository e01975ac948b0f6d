import random

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
actor = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
import copy

ta, tc = copy.deepcopy(actor), copy.deepcopy(critic)
oa, oc = torch.optim.Adam(actor.parameters(), 1e-3), torch.optim.Adam(critic.parameters(), 2e-3)
buf = []
s = torch.zeros(2)
for step in range(500):
    with torch.no_grad():
        a = (actor(s) + 0.3 * torch.randn(1)).clamp(-1, 1)
    s2 = torch.stack([s[0] + 0.1 * s[1], s[1] + 0.2 * a[0]]).clamp(-2, 2)
    r = -(s2[0] - 1).abs()
    buf.append((s, a, r, s2))
    s = torch.zeros(2) if step % 50 == 49 else s2
    if len(buf) < 64:
        continue
    bs, ba, br, bs2 = map(torch.stack, zip(*random.sample(buf, 64)))
    with torch.no_grad():
        y = br.unsqueeze(1) + 0.95 * tc(torch.cat([bs2, ta(bs2)], 1))
    lc = nn.functional.mse_loss(critic(torch.cat([bs, ba], 1)), y)
    oc.zero_grad()
    lc.backward()
    oc.step()
    la = -critic(torch.cat([bs, actor(bs)], 1)).mean()
    oa.zero_grad()
    la.backward()
    oa.step()
    with torch.no_grad():
        for t, m in ((ta, actor), (tc, critic)):
            for q, p in zip(t.parameters(), m.parameters()):
                q.mul_(0.99).add_(p, alpha=0.01)
    if step % 100 == 99:
        print(step, lc.item(), la.item())
