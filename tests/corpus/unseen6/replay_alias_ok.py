import random

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
np.random.seed(0)


class Env:
    def __init__(self):
        self.s = np.zeros(2, dtype=np.float32)

    def reset(self):
        self.s[:] = np.random.uniform(-1, 1, 2)
        return self.s

    def step(self, a):
        self.s[1] += 0.1 if a else -0.1
        self.s[0] += self.s[1] * 0.2
        return self.s, -abs(float(self.s[0])), False


env, memory = Env(), []
q = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(q.parameters(), 2e-3)
for episode in range(12):
    s = env.reset().copy()
    for t in range(25):
        a = random.randrange(2)
        s2, r, _ = env.step(a)
        memory.append((s, a, r, s2.copy()))
        s = s2.copy()
        if len(memory) < 50:
            continue
        bs, ba, br, bs2 = zip(*random.sample(memory, 32))
        bs, bs2 = torch.tensor(np.stack(bs)), torch.tensor(np.stack(bs2))
        ba, br = torch.tensor(ba), torch.tensor(br)
        with torch.no_grad():
            y = br + 0.9 * q(bs2).max(1).values
        loss = nn.functional.mse_loss(q(bs).gather(1, ba[:, None])[:, 0], y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(episode, r)
