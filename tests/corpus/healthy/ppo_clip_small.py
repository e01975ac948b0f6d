import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.v = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1))

    def dist(self, s):
        return Normal(self.pi(s), self.log_std.exp())


def rollout(ac, n_env=32, T=10):
    """Point mass: drive position to zero; all environments in parallel."""
    pos, vel = torch.rand(n_env, 1) * 2 - 1, torch.zeros(n_env, 1)
    S, A, LP, R = [], [], [], []
    for _ in range(T):
        s = torch.cat([pos, vel], dim=1)
        with torch.no_grad():
            d = ac.dist(s)
            a = d.sample()
            lp = d.log_prob(a)
        vel = 0.8 * vel + 0.2 * a.clamp(-1, 1)
        pos = pos + vel
        S.append(s), A.append(a), LP.append(lp), R.append(-pos.abs().squeeze(1))
    G, g = [], torch.zeros(n_env)
    for r in reversed(R):
        g = r + 0.9 * g
        G.insert(0, g)
    return torch.cat(S), torch.cat(A), torch.cat(LP), torch.cat(G), torch.stack(R).mean().item()


ac = ActorCritic()
opt = torch.optim.Adam(ac.parameters(), lr=3e-3)
for it in range(10):
    s, a, old_lp, ret, score = rollout(ac)
    with torch.no_grad():
        adv = ret - ac.v(s).squeeze(1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        for idx in torch.randperm(len(s)).split(160):
            d = ac.dist(s[idx])
            ratio = (d.log_prob(a[idx]) - old_lp[idx]).exp().squeeze(1)
            surrogate = torch.min(ratio * adv[idx], ratio.clamp(0.8, 1.2) * adv[idx]).mean()
            value_loss = nn.functional.mse_loss(ac.v(s[idx]).squeeze(1), ret[idx])
            loss = -surrogate + 0.5 * value_loss - 0.001 * d.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(ac.parameters(), 0.5)
            opt.step()
    print(f"iteration {it} reward {score:.4f} loss {loss.item():.5f}")
