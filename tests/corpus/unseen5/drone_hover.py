"""Gaussian policy gradient that keeps a one-axis drone at its set point."""
import numpy as np
import torch
import torch.nn as nn


class HoverEnv:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.pos, self.vel, self.t = self.rng.uniform(-1, 1), 0.0, 0
        return np.array([self.pos, self.vel], dtype=np.float32)

    def step(self, thrust):
        thrust = float(np.clip(thrust, -1, 1))
        self.vel += 0.1 * thrust
        self.pos += 0.1 * self.vel
        self.t += 1
        obs = np.array([self.pos, self.vel], dtype=np.float32)
        return obs, -(self.pos ** 2 + 0.1 * self.vel ** 2), self.t >= 40


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.5))

    def dist(self, obs):
        return torch.distributions.Normal(self.mean(obs), self.log_std.exp())

    def act(self, obs):
        mean = self.mean(torch.from_numpy(obs))
        noise = torch.randn(1) * self.log_std.exp()
        return (mean + noise).numpy()


torch.manual_seed(4)
env, policy = HoverEnv(4), Policy()
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for it in range(12):
    obs_buf, act_buf, ret_buf, scores = [], [], [], []
    for _ in range(5):
        obs, done, rewards = env.reset(), False, []
        while not done:
            a = policy.act(obs)
            obs_buf.append(obs)
            act_buf.append(a)
            obs, r, done = env.step(a[0])
            rewards.append(r)
        ret_buf.extend(np.cumsum(rewards[::-1])[::-1])
        scores.append(sum(rewards))
    obs_t, act_t = torch.tensor(np.array(obs_buf)), torch.tensor(np.array(act_buf))
    ret = torch.tensor(np.array(ret_buf), dtype=torch.float32)
    adv = (ret - ret.mean()) / (ret.std() + 1e-8)
    loss = -(policy.dist(obs_t).log_prob(act_t).squeeze(-1) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"iter {it} return {np.mean(scores):.2f}")
