import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(6)
torch.manual_seed(6)


class Corridor:
    """Walk left or right on a line; the goal is at the right end."""

    def __init__(self, n=7):
        self.n = n

    def reset(self):
        self.pos, self.t = self.n // 2, 0
        return self._obs()

    def _obs(self):
        o = np.zeros(self.n, dtype=np.float32)
        o[self.pos] = 1.0
        return o

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        self.t += 1
        done = self.pos in (0, self.n - 1) or self.t >= 30
        reward = 1.0 if self.pos == self.n - 1 else -0.02
        return self._obs(), reward, done


policy = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
env = Corridor()


def choose(obs):
    probs = F.softmax(policy(torch.from_numpy(obs)), dim=-1)
    p = probs.detach().numpy().astype(np.float64)
    action = np.random.choice(2, p=p / p.sum())
    return action, torch.log(probs[action])


history = []
for episode in range(150):
    obs, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        action, logp = choose(obs)
        obs, r, done = env.step(action)
        log_probs.append(logp)
        rewards.append(r)
    returns, g = [], 0.0
    for r in reversed(rewards):
        g = r + 0.98 * g
        returns.insert(0, g)
    returns = torch.tensor(returns)
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(sum(rewards))
    if (episode + 1) % 50 == 0:
        print(f"episode {episode + 1}: mean return {np.mean(history[-50:]):.3f}")
