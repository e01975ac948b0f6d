import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(15)
N_ENVS, LENGTH, GAMMA = 16, 9, 0.97


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LENGTH, 32), nn.Tanh())
        self.pi = nn.Linear(32, 2)
        self.v = nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


eye = torch.eye(LENGTH)
pos = torch.full((N_ENVS,), LENGTH // 2)
net = ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for update in range(120):
    logps, values, rewards, dones, ents = [], [], [], [], []
    for _ in range(8):
        dist, value = net(eye[pos])
        a = dist.sample()
        pos = pos + 2 * a - 1
        win, lose = pos == LENGTH - 1, pos == 0
        rewards.append(win.float() - lose.float())
        done = win | lose
        pos = torch.where(done, torch.full_like(pos, LENGTH // 2), pos)
        logps.append(dist.log_prob(a))
        values.append(value)
        dones.append(done.float())
        ents.append(dist.entropy())
    with torch.no_grad():
        ret = net(eye[pos])[1]
    returns = []
    for r, d in zip(reversed(rewards), reversed(dones)):
        ret = r + GAMMA * ret * (1 - d)
        returns.insert(0, ret)
    returns, values = torch.stack(returns), torch.stack(values)
    adv = (returns - values).detach()
    policy_loss = -(torch.stack(logps) * adv).mean()
    loss = policy_loss + 0.5 * (returns - values).pow(2).mean() - 0.01 * torch.stack(ents).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if update % 30 == 29:
        print(f"update {update + 1}: mean reward {torch.stack(rewards).mean().item():.3f}")
