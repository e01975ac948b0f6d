import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
N, GAMMA = 6, 0.95


class Chain:
    def reset(self):
        self.s, self.t = 2, 0
        return self.obs()

    def obs(self):
        v = np.zeros(N, dtype=np.float32)
        v[self.s] = 1
        return v

    def step(self, a):
        self.s = min(max(self.s + (1 if a == 1 else -1), 0), N - 1)
        self.t += 1
        if self.s == N - 1:
            return self.obs(), 1.0, True
        if self.s == 0:
            return self.obs(), 0.1, True
        return self.obs(), 0.0, False


q = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
target = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=3e-3)
buffer = deque(maxlen=2000)
env = Chain()
obs = env.reset()

for step in range(900):
    eps = max(0.1, 1 - step / 400)
    if random.random() < eps:
        a = random.randrange(2)
    else:
        with torch.no_grad():
            a = q(torch.from_numpy(obs)).argmax().item()
    nxt, r, done = env.step(a)
    buffer.append((obs, a, r, nxt, float(done)))
    obs = env.reset() if done else nxt
    if step >= 64:
        s, act, rew, s2, d = map(np.array, zip(*random.sample(buffer, 32)))
        s, s2 = torch.from_numpy(s), torch.from_numpy(s2)
        act, rew, d = torch.from_numpy(act), torch.from_numpy(rew).float(), torch.from_numpy(d).float()
        with torch.no_grad():
            td_target = rew + GAMMA * target(s2).max(1).values
        pred = q(s).gather(1, act.view(-1, 1)).squeeze(1)
        loss = F.smooth_l1_loss(pred, td_target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 0:
            target.load_state_dict(q.state_dict())
    if step % 200 == 0:
        with torch.no_grad():
            print(f"step {step} max Q {q(torch.eye(N)).max():.3f}")
with torch.no_grad():
    print(f"Q(start) {q(torch.eye(N)[2]).tolist()}  true optimum {GAMMA ** 2:.3f}")
