import math

import torch
from torch import nn


class Policy(nn.Module):
    """Imitates a PD controller that pushes a cart with up to five newtons."""

    def __init__(self, obs=2, hidden=32, limit=5.0):
        super().__init__()
        self.limit = limit
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, 1)

    def forward(self, obs):
        return self.limit * torch.tanh(self.mu(self.body(obs)))


def expert(obs):
    return (-3.0 * obs[:, :1] - 1.2 * obs[:, 1:]).clamp(-5.0, 5.0)


def rollout(n, gen):
    obs = torch.randn(n, 2, generator=gen) * torch.tensor([1.2, 0.8])
    return obs, expert(obs)


def clone(steps=100, batch=64):
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(3)
    policy = Policy()
    opt = torch.optim.Adam(policy.parameters(), lr=4e-3)
    val_obs, val_act = rollout(256, gen)
    for step in range(1, steps + 1):
        obs, act = rollout(batch, gen)
        loss = nn.functional.mse_loss(policy(obs), act)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 5.0)
        opt.step()
        if step % 20 == 0:
            with torch.no_grad():
                rmse = math.sqrt(nn.functional.mse_loss(policy(val_obs), val_act).item())
            print(f"step {step:4d} loss {loss.item():.5f} val rmse {rmse:.5f}")
    return policy


clone()
