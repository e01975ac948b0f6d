import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn


class Corridor:
    """Walk left or right on a line of nine cells; the right end pays one."""

    size = 9

    def __init__(self):
        self.state = np.zeros(self.size, dtype=np.float32)

    def reset(self):
        self.pos = self.size // 2
        self.state[:] = 0
        self.state[self.pos] = 1
        return self.state

    def step(self, action):
        self.state[self.pos] = 0
        self.pos += 1 if action == 1 else -1
        self.state[self.pos] = 1
        done = self.pos in (0, self.size - 1)
        return self.state, float(self.pos == self.size - 1), done


class Agent:
    def __init__(self):
        self.q = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=5e-3)
        self.memory = deque(maxlen=2000)

    def act(self, state, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.q(torch.as_tensor(state)).argmax())

    def learn(self, batch_size=32, gamma=0.9):
        batch = random.sample(self.memory, batch_size)
        s, a, r, s2, d = zip(*batch)
        s, s2 = torch.as_tensor(np.stack(s)), torch.as_tensor(np.stack(s2))
        a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d, dtype=torch.float32)
        with torch.no_grad():
            goal = r + gamma * (1 - d) * self.target(s2).max(1).values
        value = self.q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


random.seed(0); np.random.seed(0); torch.manual_seed(0)
env, agent, losses = Corridor(), Agent(), []
for episode in range(24):
    state, done, won = env.reset().copy(), False, 0.0
    while not done:
        action = agent.act(state, eps=max(0.1, 1 - episode / 12))
        nxt, reward, done = env.step(action)
        agent.memory.append((state, action, reward, nxt.copy(), done))
        state, won = nxt.copy(), reward
        if len(agent.memory) >= 64:
            losses.append(agent.learn())
    if episode % 4 == 3:
        agent.target.load_state_dict(agent.q.state_dict())
        print(f"episode {episode + 1} won {won:.0f} loss {np.mean(losses[-20:]) if losses else 0:.6f}")
