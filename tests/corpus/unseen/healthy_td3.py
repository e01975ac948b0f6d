import copy
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)


class Reach:
    """Move a point on the line to the origin."""

    def reset(self):
        self.x, self.t = np.random.uniform(-1, 1, 1).astype(np.float32), 0
        return self.x.copy()

    def step(self, a):
        self.x = np.clip(self.x + 0.3 * a, -2, 2).astype(np.float32)
        self.t += 1
        return self.x.copy(), float(-self.x[0] ** 2), self.t >= 12


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], 1)).view(-1)


actor, qf1, qf2 = Actor(), QNetwork(), QNetwork()
target_actor, qf1_target, qf2_target = map(copy.deepcopy, (actor, qf1, qf2))
q_optimizer = torch.optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=3e-3)
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
buffer, env, gamma, tau = [], Reach(), 0.9, 0.02
obs, ep, history = env.reset(), 0.0, []
for step in range(500):
    if step < 60:
        action = np.random.uniform(-1, 1, 1).astype(np.float32)
    else:
        with torch.no_grad():
            action = actor(torch.from_numpy(obs).unsqueeze(0))[0].numpy()
        action = np.clip(action + np.random.normal(0, 0.1, 1), -1, 1).astype(np.float32)
    nxt, r, trunc = env.step(action)
    buffer.append((obs, action, r, nxt))
    obs, ep = nxt, ep + r
    if trunc:
        history.append(ep)
        obs, ep = env.reset(), 0.0
    if step < 60:
        continue
    s, a, rew, s2 = [torch.from_numpy(np.array(v, dtype=np.float32)) for v in zip(*random.sample(buffer, 32))]
    with torch.no_grad():
        noise = (torch.randn_like(a) * 0.2).clamp(-0.5, 0.5)
        a2 = (target_actor(s2) + noise).clamp(-1, 1)
        y = rew + gamma * torch.min(qf1_target(s2, a2), qf2_target(s2, a2))
    q_loss = F.mse_loss(qf1(s, a), y) + F.mse_loss(qf2(s, a), y)
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()
    if step % 2 == 0:
        actor_loss = -qf1(s, actor(s)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        for net, tgt in ((actor, target_actor), (qf1, qf1_target), (qf2, qf2_target)):
            for p, tp in zip(net.parameters(), tgt.parameters()):
                tp.data.copy_(tau * p.data + (1 - tau) * tp.data)
    if step % 120 == 0:
        print(f"step {step} return {np.mean(history[-5:]):.3f} q_loss {q_loss.item():.4f}")
print(f"last returns {np.mean(history[-8:]):.3f}")
