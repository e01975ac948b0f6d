import torch
import torch.nn as nn
import torch.nn.functional as F


class Policy(nn.Module):
    """Behaviour cloning of a simple expert on a cart moving along a line."""

    def __init__(self, obs_dim=4, n_actions=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.pi = nn.Linear(32, n_actions)

    def forward(self, obs):
        return self.pi(self.body(obs))


def expert(obs):
    score = obs[:, 0] + 0.5 * obs[:, 1] - 0.3 * obs[:, 3]
    return torch.bucketize(score, torch.tensor([-0.4, 0.4]))


def clone(seed=0, iterations=80, batch=64):
    torch.manual_seed(seed)
    policy = Policy()
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=2e-3)
    for it in range(iterations):
        obs = torch.randn(batch, 4)
        actions = expert(obs)
        loss = F.cross_entropy(policy(obs), actions)

        optimizer.step()
        optimizer.zero_grad()
        loss.backward()

        if (it + 1) % 20 == 0:
            print(f"iter {it + 1:4d} | nll {loss.item():.6f}")
    return policy


if __name__ == "__main__":
    clone()
