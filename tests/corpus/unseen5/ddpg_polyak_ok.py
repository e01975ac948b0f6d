"""DDPG: the actor minimises -Q through the critic, target networks follow by Polyak averaging."""
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Slider:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.goal = self.rng.uniform(-1, 1, 2)
        self.t = 0
        return self.obs()

    def obs(self):
        return np.array([self.x, self.goal], dtype=np.float32)

    def step(self, a):
        self.x = float(np.clip(self.x + 0.3 * a, -1, 1))
        self.t += 1
        return self.obs(), -abs(self.x - self.goal), self.t >= 12


def mlp(i, o, last=nn.Identity):
    return nn.Sequential(nn.Linear(i, 48), nn.ReLU(), nn.Linear(48, o), last())


def to_tensor(v):
    return torch.tensor(np.array(v), dtype=torch.float32)


random.seed(99)
torch.manual_seed(99)
env = Slider(99)
actor, critic = mlp(2, 1, nn.Tanh), mlp(3, 1)
actor_t, critic_t = copy.deepcopy(actor), copy.deepcopy(critic)
opt_a = torch.optim.Adam(actor.parameters(), lr=2e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=5e-3)
replay, scores, steps = deque(maxlen=4000), [], 0
for episode in range(70):
    s, done, total = env.reset(), False, 0.0
    while not done:
        with torch.no_grad():
            a = actor(torch.from_numpy(s)).item()
        a = float(np.clip(a + 0.3 * random.gauss(0, 1), -1, 1)) if steps > 100 else random.uniform(-1, 1)
        s2, r, done = env.step(a)
        replay.append((s, [a], [r], s2))
        s, total, steps = s2, total + r, steps + 1
        if steps < 100:
            continue
        bs, ba, br, bs2 = (to_tensor(v) for v in zip(*random.sample(replay, 64)))
        with torch.no_grad():
            # time limit is not a terminal state, so the target always bootstraps
            y = br + 0.9 * critic_t(torch.cat([bs2, actor_t(bs2)], 1))
        loss_c = F.mse_loss(critic(torch.cat([bs, ba], 1)), y)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        loss_a = -critic(torch.cat([bs, actor(bs)], 1)).mean()
        opt_a.zero_grad()
        loss_a.backward()
        opt_a.step()
        with torch.no_grad():
            for net, tgt in ((actor, actor_t), (critic, critic_t)):
                for p, q in zip(net.parameters(), tgt.parameters()):
                    q.lerp_(p, 0.02)
    scores.append(total)
    if episode % 10 == 9:
        print(f"episode {episode + 1} mean return {np.mean(scores[-10:]):.3f}")
