from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

torch.manual_seed(543)
rng = np.random.default_rng(543)
eps = np.finfo(np.float32).eps.item()


class Balance:
    """A tilting stick: push left or right before it falls."""

    def reset(self):
        self.s = rng.uniform(-0.05, 0.05, 2)
        self.t = 0
        return self.s.copy()

    def step(self, action):
        force = 1.0 if action == 1 else -1.0
        angle, vel = self.s
        vel = vel + 0.05 * (2.0 * angle + force) + rng.normal() * 0.01
        self.s = np.array([angle + 0.1 * vel, vel])
        self.t += 1
        return self.s.copy(), 1.0, bool(abs(self.s[0]) > 0.4 or self.t >= 60)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(2, 32)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)


policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)


def select_action(state):
    probs = policy(torch.from_numpy(state).float().unsqueeze(0))
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R, returns = 0, deque()
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    policy_loss = [-lp * R for lp, R in zip(policy.saved_log_probs, returns)]
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]


env = Balance()
running_reward = 10
for i_episode in range(1, 251):
    state, done, ep_reward = env.reset(), False, 0
    while not done:
        state, reward, done = env.step(select_action(state))
        policy.rewards.append(reward)
        ep_reward += reward
    running_reward = 0.05 * ep_reward + 0.95 * running_reward
    finish_episode()
    if i_episode % 50 == 0:
        print(f"Episode {i_episode}\tLast reward: {ep_reward:.2f}\tAverage reward: {running_reward:.2f}")
