import numpy as np
import torch
import torch.nn.functional as F


class ReplayBuffer:
    def __init__(self, capacity, obs_dim):
        self.obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.actions = np.zeros((capacity, 1), dtype=np.int64)
        self.rewards = np.zeros((capacity, 1), dtype=np.float32)
        self.size = 0

    def add(self, obs, action, reward):
        i = self.size
        self.obs[i], self.actions[i], self.rewards[i] = obs, action, reward
        self.size += 1

    def sample(self, n, rng):
        idx = rng.integers(0, self.size, n)
        return (torch.from_numpy(self.obs[idx]),
                torch.from_numpy(self.actions[idx]),
                torch.from_numpy(self.rewards[idx]))


def collect(buffer, rng, n):
    """Three arms; which one pays depends on the sign of the context."""
    for _ in range(n):
        ctx = rng.normal(size=4)
        arm = rng.integers(0, 3)
        best = 0 if ctx[0] > 0.5 else 1 if ctx[1] > 0 else 2
        buffer.add(ctx, arm, float(arm == best))


def main():
    rng = np.random.default_rng(5)
    torch.manual_seed(5)
    buffer = ReplayBuffer(1000, 4)
    collect(buffer, rng, 800)
    q = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    opt = torch.optim.Adam(q.parameters(), lr=5e-3)
    log = []
    for it in range(1, 101):
        obs, actions, rewards = buffer.sample(64, rng)
        q_taken = q(obs).gather(1, actions)
        loss = F.mse_loss(q_taken, rewards)
        opt.zero_grad()
        loss.backward()
        opt.step()
        log.append(loss.item())
        if it % 25 == 0:
            print(f"iter {it} loss {np.mean(log[-25:]):.6f}")


if __name__ == "__main__":
    main()
