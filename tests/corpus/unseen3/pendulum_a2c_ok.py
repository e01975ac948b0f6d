import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(8)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh())
        self.mu = nn.Linear(32, 1)
        self.v = nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.zeros(1))

    def forward(self, s):
        h = self.body(s)
        return Normal(self.mu(h).squeeze(-1), self.log_std.exp()), self.v(h).squeeze(-1)


def step(s, a):
    pos, vel = s[:, 0], s[:, 1]
    vel = 0.9 * vel + 0.2 * a.clamp(-2, 2)
    pos = pos + 0.2 * vel
    return torch.stack([pos, vel], 1), -(pos ** 2) - 0.01 * a ** 2


net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for update in range(80):
    s = torch.randn(32, 2)
    logps, values, rewards, ents = [], [], [], []
    for _ in range(15):
        dist, v = net(s)
        a = dist.sample()
        s, r = step(s, a)
        logps.append(dist.log_prob(a))
        values.append(v)
        rewards.append(r)
        ents.append(dist.entropy())
    with torch.no_grad():
        ret = net(s)[1]
    returns = []
    for r in reversed(rewards):
        ret = r + 0.95 * ret
        returns.insert(0, ret)
    returns, values, logps = torch.stack(returns), torch.stack(values), torch.stack(logps)
    adv = (returns - values).detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    loss = -(logps * adv).mean() + 0.5 * (returns - values).pow(2).mean() - 0.001 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    opt.step()
    if update % 20 == 0:
        print(f"update {update} mean reward {torch.stack(rewards).mean():.3f}")
