import torch
import torch.nn as nn
from torch.distributions import Categorical


class Elevator:
    """Move to the floor where somebody waits."""

    def __init__(self, floors=5):
        self.floors = floors

    def reset(self):
        self.at, self.wait = (int(v) for v in torch.randint(0, self.floors, (2,)))
        self.t = 0
        return self.state()

    def state(self):
        return torch.tensor([self.at / self.floors, self.wait / self.floors, (self.wait - self.at) / self.floors])

    def step(self, a):
        self.at = min(max(self.at + (a - 1), 0), self.floors - 1)
        self.t += 1
        served = self.at == self.wait
        return self.state(), (1.0 if served else -0.1), served or self.t >= 12


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))

    def act(self, state):
        scores = self.layers(state)
        dist = Categorical(scores)
        action = dist.sample()
        return action.item(), dist.log_prob(action)


torch.manual_seed(5)
env, actor = Elevator(), Actor()
optimizer = torch.optim.Adam(actor.parameters(), lr=0.01)
avg = 0.0
for episode in range(200):
    state, done, logps, rewards = env.reset(), False, [], []
    while not done:
        action, logp = actor.act(state)
        state, reward, done = env.step(action)
        logps.append(logp)
        rewards.append(reward)
    total = sum(rewards)
    loss = -(total - avg) * torch.stack(logps).sum()
    avg = 0.95 * avg + 0.05 * total
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 50 == 49:
        print(f"episode {episode + 1} average return {avg:.3f}")
