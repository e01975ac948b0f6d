import argparse

import torch
import torch.nn as nn
from torch.distributions import Normal


class PointMass:
    """Push a point to the origin; an episode ends when it arrives or flies away."""

    def __init__(self, gen):
        self.gen = gen

    def reset(self):
        self.x = float(torch.rand(1, generator=self.gen)) * 2 - 1
        self.v = 0.0
        return torch.tensor([self.x, self.v])

    def step(self, force):
        self.v = 0.8 * self.v + 0.2 * max(-1.0, min(1.0, force))
        self.x += 0.3 * self.v
        done = abs(self.x) < 0.2 or abs(self.x) > 1.5
        reward = (1.0 if abs(self.x) < 0.2 else 0.0) - 0.1 * abs(self.x)
        return torch.tensor([self.x, self.v]), reward, done


class ActorCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, 1)
        self.value = nn.Linear(hidden, 1)
        self.log_std = nn.Parameter(torch.tensor(-0.5))

    def forward(self, obs):
        h = self.body(obs)
        return Normal(self.mu(h).squeeze(-1), self.log_std.exp()), self.value(h).squeeze(-1)


def gae(rewards, values, dones, last_value, gamma, lam):
    adv, running = torch.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        next_value = last_value if t == len(rewards) - 1 else values[t + 1]
        nonterminal = 1.0 - dones[t]
        delta = rewards[t] + gamma * next_value * nonterminal - values[t]
        running = delta + gamma * lam * nonterminal * running
        adv[t] = running
    return adv


def rollout(env, obs, net, horizon):
    store = {k: [] for k in ("obs", "act", "rew", "done", "val")}
    with torch.no_grad():
        for _ in range(horizon):
            dist, value = net(obs)
            action = dist.sample()
            nxt, reward, done = env.step(action.item())
            for k, item in zip(store, (obs, action, torch.tensor(reward), torch.tensor(float(done)), value)):
                store[k].append(item)
            obs = env.reset() if done else nxt
        last = net(obs)[1]
    return {k: torch.stack(v) for k, v in store.items()}, last, obs


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--lam", type=float, default=0.95)
    cfg = parser.parse_args()
    torch.manual_seed(0)
    env = PointMass(torch.Generator().manual_seed(2))
    net, obs = ActorCritic(), env.reset()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for update in range(cfg.updates):
        roll, last, obs = rollout(env, obs, net, horizon=60)
        adv = gae(roll["rew"], roll["val"], roll["done"], last, cfg.gamma, cfg.lam)
        returns = adv + roll["val"]
        dist, value = net(roll["obs"])
        policy_loss = -(dist.log_prob(roll["act"]) * adv).mean()
        value_loss = (returns - value).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if update % 6 == 5:
            print(f"update {update + 1} loss {loss.item():.5f} reward {roll['rew'].mean().item():.5f}")
