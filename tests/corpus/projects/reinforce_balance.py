"""REINFORCE keeps a drifting point near the middle."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

GAMMA = 0.97


class Drift:
    """A point that drifts; pushes of either sign keep it in reach."""

    def __init__(self, generator):
        self.generator = generator

    def reset(self):
        self.x = torch.zeros(2)
        self.steps = 0
        return self.x.clone()

    def step(self, push):
        force = 0.12 if push == 1 else -0.12
        self.x[1] = 0.9 * self.x[1] + force + 0.05 * torch.randn((), generator=self.generator)
        self.x[0] = self.x[0] + self.x[1]
        self.steps += 1
        fell = bool(self.x[0].abs() > 1)
        return self.x.clone(), 1.0, fell or self.steps >= 60


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, x):
        return Categorical(logits=self.layers(x))


def discounted(rewards):
    returns, running = [], 0.0
    for reward in rewards:
        running = reward + GAMMA * running
        returns.append(running)
    returns = torch.tensor(returns)
    return (returns - returns.mean()) / (returns.std() + 1e-6)


def run_episode(env, policy):
    log_probs, rewards = [], []
    state, done = env.reset(), False
    while not done:
        dist = policy(state)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
    return torch.stack(log_probs), rewards


def main(episodes=150):
    torch.manual_seed(5)
    env, policy = Drift(torch.Generator().manual_seed(2)), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    lengths = []
    for episode in range(episodes):
        log_probs, rewards = run_episode(env, policy)
        loss = -(log_probs * discounted(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lengths.append(len(rewards))
        if episode % 50 == 49:
            print(f"episode {episode} length {sum(lengths[-50:]) / 50:.1f}")


if __name__ == "__main__":
    main()
