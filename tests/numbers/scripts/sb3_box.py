"""Stable-Baselines3: a box of names and values for each rollout."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for update in range(1, 4):
    for _ in range(4):
        obs = torch.randn(32, 4)
        dist = torch.distributions.Categorical(logits=policy(obs))
        actions = dist.sample()
        advantage = (actions == (obs[:, 0] > 0)).float() - 0.5
        policy_loss = -(dist.log_prob(actions) * advantage).mean()
        entropy_loss = -dist.entropy().mean()
        loss = policy_loss + 0.01 * entropy_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    rows = [
        ("rollout/", ""),
        ("   ep_len_mean", f"{20.5 + update:.4g}"),
        ("   ep_rew_mean", f"{advantage.mean().item() * 100:.3g}"),
        ("time/", ""),
        ("   total_timesteps", str(update * 128)),
        ("train/", ""),
        ("   entropy_loss", f"{entropy_loss.item():.3g}"),
        ("   loss", f"{loss.item():.3g}"),
        ("   policy_gradient_loss", f"{policy_loss.item():.3g}"),
    ]
    print("-" * 42)
    for name, value in rows:
        print(f"| {name:<24} | {value:<11} |")
    print("-" * 42)
