"""An episode at a time; rewards in the words of the classic example."""

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
running_reward = 10.0
for i_episode in range(1, 13):
    log_probs, ep_reward, state = [], 0, torch.randn(4)
    for _ in range(8):
        dist = torch.distributions.Categorical(policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        ep_reward += int(action.item() == int(state[0] > 0))
        state = torch.randn(4)
    running_reward = 0.05 * ep_reward + 0.95 * running_reward
    optimizer.zero_grad()
    (-torch.stack(log_probs).sum() * ep_reward).backward()
    optimizer.step()
    if i_episode % 3 == 0:
        print(f"Episode {i_episode}\tLast reward: {ep_reward:.2f}\tAverage reward: {running_reward:.2f}")
