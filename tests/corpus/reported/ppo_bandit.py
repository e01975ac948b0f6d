import torch
import torch.nn as nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def distribution(self, state):
        return Normal(self.mean(state).squeeze(1), self.log_std.exp())


def reward(state, action):
    best = torch.sin(2 * state[:, 0]) + 0.5 * state[:, 1]
    return -(action - best).pow(2)


class PPO:
    def __init__(self, policy, clip=0.2, epochs=10, lr=0.01):
        self.policy, self.clip, self.epochs = policy, clip, epochs
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)

    def collect(self, n):
        state = torch.rand(n, 2) * 2 - 1
        with torch.no_grad():
            distribution = self.policy.distribution(state)
            action = distribution.sample()
            log_prob = distribution.log_prob(action)
        return state, action, log_prob, reward(state, action)

    def update(self, state, action, log_prob, rewards):
        advantage = (rewards - rewards.mean()) / (rewards.std() + 1e-8)
        clipped = []
        for _ in range(self.epochs):
            current = self.policy.distribution(state).log_prob(action)
            ratio = torch.exp(current - current.detach())
            bounded = ratio.clamp(1 - self.clip, 1 + self.clip)
            loss = -torch.min(ratio * advantage, bounded * advantage).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            clipped.append((ratio != bounded).float().mean().item())
        return sum(clipped) / len(clipped)


def main():
    torch.manual_seed(4)
    agent = PPO(Policy())
    for iteration in range(1, 41):
        state, action, log_prob, rewards = agent.collect(256)
        fraction = agent.update(state, action, log_prob, rewards)
        if iteration % 10 == 0:
            std = agent.policy.log_std.exp().item()
            print(f"iteration {iteration} reward {rewards.mean().item():.3f} clipped {fraction:.3f} std {std:.3f}")


if __name__ == "__main__":
    main()
