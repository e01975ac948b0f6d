"""REINFORCE in the pytorch/examples style with whitened returns on a small balancing task."""
import math
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

GAMMA = 0.97


class Balance:
    def reset(self):
        self.theta, self.omega, self.t = (torch.rand(2) * 0.1 - 0.05).tolist() + [0]
        return torch.tensor([self.theta, self.omega])

    def step(self, a):
        force = 1.0 if a == 1 else -1.0
        self.omega += 0.05 * (9.8 * math.sin(self.theta) + 6 * force)
        self.theta += 0.05 * self.omega
        self.t += 1
        done = abs(self.theta) > 0.4 or self.t >= 60
        return torch.tensor([self.theta, self.omega]), 1.0, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1, self.affine2 = nn.Linear(2, 32), nn.Linear(32, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=-1)


torch.manual_seed(543)
policy, env = Policy(), Balance()
optimizer = optim.Adam(policy.parameters(), lr=2e-2)


def finish_episode():
    R, returns = 0, deque()
    for r in policy.rewards[::-1]:
        R = r + GAMMA * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    policy_loss = [-lp * R for lp, R in zip(policy.saved_log_probs, returns)]
    optimizer.zero_grad()
    torch.stack(policy_loss).sum().backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


running = 10.0
for episode in range(120):
    state, done, length = env.reset(), False, 0
    while not done:
        m = Categorical(policy(state))
        action = m.sample()
        policy.saved_log_probs.append(m.log_prob(action))
        state, reward, done = env.step(action.item())
        policy.rewards.append(reward)
        length += 1
    running = 0.05 * length + 0.95 * running
    finish_episode()
    if episode % 30 == 29:
        print(f"Episode {episode + 1} last length {length} running {running:.2f}")
