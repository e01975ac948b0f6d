import copy
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 0
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Pole:
    """Keep a drifting point inside [-1, 1] with pushes to the left or right."""

    def reset(self):
        self.state = np.random.uniform(-0.3, 0.3, 2)
        return self.state.astype(np.float32)

    def step(self, action):
        x, v = self.state
        v = 0.95 * v + (0.1 if action else -0.1) + 0.08 * x
        self.state = np.array([x + 0.2 * v, v])
        done = bool(abs(self.state[0]) > 1.0)
        return self.state.astype(np.float32), (-1.0 if done else 0.1), done


class ReplayBuffer:
    def __init__(self, capacity):
        self.data, self.capacity = [], capacity

    def push(self, *item):
        self.data.append(item)
        self.data = self.data[-self.capacity:]

    def sample(self, n):
        s, a, r, s2, d = map(np.array, zip(*random.sample(self.data, n)))
        as_t = lambda v, dt: torch.as_tensor(v, dtype=dt, device=device)
        f = torch.float32
        return as_t(s, f), as_t(a, torch.int64), as_t(r, f), as_t(s2, f), as_t(d, f)


policy_net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 2)).to(device)
target_net = copy.deepcopy(policy_net)
target_net.eval()
optimizer = torch.optim.AdamW(policy_net.parameters(), lr=2e-3, amsgrad=True)
buffer, env = ReplayBuffer(600), Pole()
GAMMA, BATCH = 0.95, 32

state = env.reset()
for step in range(200):
    eps = max(0.05, 1.0 - step / 120)
    with torch.no_grad():
        q_now = policy_net(torch.as_tensor(state, device=device))
    action = random.randrange(2) if random.random() < eps else int(q_now.argmax())
    next_state, reward, done = env.step(action)
    buffer.push(state, action, reward, next_state, done)
    state = env.reset() if done else next_state
    if step < 80:
        continue
    s, a, r, s2, d = buffer.sample(BATCH)
    q = policy_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = policy_net(s2).argmax(1, keepdim=True)
        y = r + GAMMA * target_net(s2).gather(1, best).squeeze(1) * (1 - d)
    loss = F.smooth_l1_loss(q, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 0:
        target_net.load_state_dict(policy_net.state_dict())
    if step % 24 == 0:
        print(f"step {step:3d} loss {loss.item():.6f} mean q {q.mean().item():.5f}")
