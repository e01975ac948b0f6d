"""A policy gradient loop that prints episodes with tabs and returns as whole numbers."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
running_reward = 10
for i_episode in range(1, 21):
    state = torch.randn(12, 3)
    dist = torch.distributions.Categorical(logits=net(state))
    action = dist.sample()
    rewards = (action == (state[:, 0] > 0).long()).float()
    ep_reward = int(rewards.sum())
    loss = (-dist.log_prob(action) * (rewards - rewards.mean())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running_reward = 0.05 * ep_reward + 0.95 * running_reward
    if i_episode % 5 == 0:
        print("Episode {}\tLast reward: {:.2f}\tAverage reward: {:.2f}".format(i_episode, ep_reward, running_reward))
