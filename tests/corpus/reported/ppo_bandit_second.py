"""Clipped policy optimisation on a contextual bandit."""
import torch
from torch import nn
from torch.distributions import Categorical

ARMS, CLIP, EPOCHS = 4, 0.2, 6


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, ARMS))

    def forward(self, context):
        return Categorical(logits=self.net(context))


class Bandit:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.preference = torch.randn(ARMS, 3, generator=self.generator)

    def contexts(self, count):
        return torch.randn(count, 3, generator=self.generator)

    def reward(self, context, action):
        mean = (self.preference[action] * context).sum(dim=1)
        return mean + 0.1 * torch.randn(len(context), generator=self.generator)


def main():
    torch.manual_seed(61)
    bandit, policy = Bandit(61), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    for iteration in range(25):
        context = bandit.contexts(128)
        with torch.no_grad():
            action = policy(context).sample()
        reward = bandit.reward(context, action)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-8)
        for epoch in range(EPOCHS):
            old_log_prob = policy(context).log_prob(action).detach()
            distribution = policy(context)
            ratio = (distribution.log_prob(action) - old_log_prob).exp()
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            objective = torch.min(ratio * advantage, clipped * advantage).mean()
            loss = -objective - 0.01 * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if iteration % 5 == 4:
            print(f"iteration {iteration + 1} mean reward {reward.mean().item():.3f}")


if __name__ == "__main__":
    main()
