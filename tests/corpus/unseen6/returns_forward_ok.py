import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
opt = torch.optim.Adam(pi.parameters(), 1e-2)
gamma = 0.9


def returns(rewards):
    out, g = [], 0.0
    for r in reversed(rewards):
        g = r + gamma * g
        out.insert(0, g)
    return torch.tensor(out)


for episode in range(60):
    pos, goal = torch.zeros(()), torch.rand(()) * 4 - 2
    logps, rewards = [], []
    for t in range(12):
        d = Categorical(logits=pi(torch.stack([pos, goal, torch.tensor(t / 12)])))
        a = d.sample()
        pos = pos + (0.5 if a.item() else -0.5)
        logps.append(d.log_prob(a))
        rewards.append(-(pos - goal).abs().item())
    R = returns(rewards)
    R = (R - R.mean()) / (R.std() + 1e-6)
    loss = -(torch.stack(logps) * R).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if episode % 10 == 0:
        print(episode, sum(rewards))
