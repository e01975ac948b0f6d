import torch
import torch.nn as nn
from torch.distributions import Categorical


class GridWalk:
    """Walk right along a line of eight cells within twenty moves."""

    def reset(self):
        self.x, self.t = 0, 0
        return self.state()

    def state(self):
        return torch.tensor([self.x / 7.0, self.t / 20.0])

    def step(self, a):
        self.x = min(7, max(0, self.x + (1 if a == 1 else -1)))
        self.t += 1
        done = self.x == 7 or self.t == 20
        return self.state(), (1.0 if self.x == 7 else -0.02), done


def run_episode(env, policy):
    s, done, logps, rewards = env.reset(), False, [], []
    while not done:
        dist = Categorical(logits=policy(s))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        s, r, done = env.step(a.item())
        rewards.append(r)
    return torch.stack(logps), rewards


def returns(rewards, gamma=0.98):
    g, out = 0.0, []
    for r in reversed(rewards):
        g = r + gamma * g
        out.append(g)
    return torch.tensor(out[::-1])


torch.manual_seed(0)
env, policy = GridWalk(), nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)
baseline = 0.0
for ep in range(40):
    logps, rewards = run_episode(env, policy)
    G = returns(rewards)
    loss = -(logps * (G - baseline)).sum()
    baseline = 0.9 * baseline + 0.1 * G[0].item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if ep % 8 == 0:
        print(f"episode {ep} return {sum(rewards):.3f} length {len(rewards)} loss {loss.item():.4f}")
