import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(4)


class Corridor:
    """The flag shows which of two doors opens; a wrong choice costs, the last steps pay most."""

    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.t = 0
        self.flag = torch.randint(0, 2, ()).item()
        return self._obs()

    def _obs(self):
        o = torch.zeros(self.length + 2)
        o[min(self.t, self.length - 1)] = 1.0
        o[self.length + self.flag] = 1.0
        return o

    def step(self, action):
        reward = 1.0 if action == self.flag else -1.0
        self.t += 1
        self.flag = torch.randint(0, 2, ()).item()
        return self._obs(), reward, self.t >= self.length


class Policy(nn.Module):
    def __init__(self, n_in, n_out=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, n_out))

    def forward(self, x):
        return Categorical(logits=self.net(x))


def discounted(rewards, gamma):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.append(running)
    return torch.tensor(out)


env = Corridor()
policy = Policy(env.length + 2)
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
scores = []
for episode in range(300):
    obs, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        dist = policy(obs)
        action = dist.sample()
        obs, reward, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        rewards.append(reward)
    returns = discounted(rewards, 0.5)
    loss = -(torch.stack(log_probs) * returns).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    scores.append(sum(rewards))
    if episode % 60 == 59:
        print(f"episode {episode + 1} mean score {sum(scores[-60:]) / 60:.2f} of {env.length}")
