import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class LineWorld:
    """Stay near zero on a line for as long as possible."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.3, 0.3, 2)
        self.t = 0
        return self.state.astype(np.float32)

    def step(self, action):
        pos, vel = self.state
        vel = 0.9 * vel + (0.2 if action else -0.2) + self.rng.normal(0, 0.05)
        pos = pos + 0.5 * vel
        self.state = np.array([pos, vel])
        self.t += 1
        return self.state.astype(np.float32), 1.0, abs(pos) > 1 or self.t >= 25


def discounted(rewards, gamma):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.insert(0, running)
    return out


def run_episode(env, policy):
    log_probs, rewards = [], []
    state, done = env.reset(), False
    while not done:
        dist = Categorical(logits=policy(torch.from_numpy(state).to(device)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
    return torch.stack(log_probs), rewards


def main(episodes=50, gamma=0.95):
    torch.manual_seed(11)
    env = LineWorld(11)
    policy = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2)).to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
    lengths = []
    for ep in range(1, episodes + 1):
        log_probs, rewards = run_episode(env, policy)
        returns = torch.tensor(discounted(rewards, gamma))
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(log_probs * returns).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        lengths.append(len(rewards))
        if ep % 10 == 0:
            print(f"episode {ep} loss {loss.item():.5f} mean length {np.mean(lengths[-10:]):.2f}")


if __name__ == "__main__":
    main()
