"""DQN for a rover that must drive to a beacon."""
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn


class RoverEnv:
    ACTIONS = np.array([[0.2, 0], [-0.2, 0], [0, 0.2], [0, -0.2]], dtype=np.float32)

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-1, 1, 4).astype(np.float32)
        self.t = 0
        return self.state.copy()

    def step(self, a):
        before = np.linalg.norm(self.state[:2] - self.state[2:])
        self.state[:2] = np.clip(self.state[:2] + self.ACTIONS[a], -1, 1)
        after = np.linalg.norm(self.state[:2] - self.state[2:])
        self.t += 1
        return self.state.copy(), float(before - after), bool(after < 0.2), self.t >= 20


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))

    def forward(self, s):
        return self.net(s)


class ReplayBuffer:
    def __init__(self, capacity):
        self.data = deque(maxlen=capacity)

    def push(self, s, a, r, s2, done):
        self.data.append((s, a, r, s2, done))

    def sample(self, n):
        s, a, r, s2, d = zip(*random.sample(self.data, n))
        f = lambda v: torch.tensor(np.array(v), dtype=torch.float32)
        return f(s), torch.tensor(a), f(r), f(s2), f(d)


random.seed(74)
torch.manual_seed(74)
env, q, target, buffer = RoverEnv(74), QNet(), QNet(), ReplayBuffer(5000)
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
steps, history = 0, []
for episode in range(150):
    s, total, stop = env.reset(), 0.0, False
    while not stop:
        eps = max(0.1, 1 - steps / 800)
        with torch.no_grad():
            a = random.randrange(4) if random.random() < eps else int(q(torch.tensor(s)).argmax())
        s2, r, done, timeout = env.step(a)
        buffer.push(s, a, r, s2, done)
        s, total, stop, steps = s2, total + r, done or timeout, steps + 1
        if len(buffer.data) >= 200 and steps % 2 == 0:
            bs, ba, br, bs2, bd = buffer.sample(32)
            with torch.no_grad():
                y = br + 0.9 * (1 - bd) * target(bs2).max(1).values
            loss = nn.functional.smooth_l1_loss(q(bs).gather(1, ba[:, None]).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if steps % 100 == 0:
            target.load_state_dict(q.state_dict())
    history.append(done)
    if episode % 30 == 29:
        print(f"episode {episode + 1} beacon reached {np.mean(history[-30:]):.2f}")
