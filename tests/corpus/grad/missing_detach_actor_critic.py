import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)


class Bandit:
    """Contextual bandit: the best arm depends on the sign pattern of the context."""

    def __init__(self, dim=4, arms=4):
        self.dim, self.w = dim, torch.randn(dim, arms)

    def context(self, n):
        return torch.randn(n, self.dim)

    def reward(self, ctx, arm):
        value = (ctx @ self.w).gather(1, arm.unsqueeze(1)).squeeze(1)
        return value + 0.1 * torch.randn_like(value)


env = Bandit()
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 4))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)

for update in range(100):
    state = env.context(64)
    dist = Categorical(logits=actor(state))
    action = dist.sample()
    reward = env.reward(state, action)

    value = critic(state).squeeze(1)
    advantage = reward - value
    actor_loss = -(dist.log_prob(action) * advantage).mean()
    critic_loss = advantage.pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.01 * dist.entropy().mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 20 == 0:
        print(f"update {update}: reward {reward.mean().item():.4f} loss {loss.item():.5f}")
