"""REINFORCE: rollouts with sampling under no optimizer, then one update."""
import random

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
for episode in range(4):
    state, logs, rewards = np.random.rand(4), [], []
    for _ in range(12):
        choice = Categorical(logits=policy(torch.as_tensor(state, dtype=torch.float32)))
        action = choice.sample()
        logs.append(choice.log_prob(action))
        state = np.clip(state + (action.item() - 0.5) * np.random.randn(4), -1, 1)
        rewards.append(float(-abs(state).sum()) + random.random())
    loss = -(torch.stack(logs) * torch.tensor(rewards)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, loss.item(), sum(rewards), random.random(), np.random.rand(), torch.rand(1).item())
