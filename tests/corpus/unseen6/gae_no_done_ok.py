import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
pi = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
vf = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*pi.parameters(), *vf.parameters()], 3e-3)
state, n = torch.zeros(2), 0


def step(s, a):
    global n
    n += 1
    s2 = torch.stack([s[0] + (0.2 if a else -0.2), torch.tensor(n / 15)])
    done = n >= 15 or abs(s2[0]) > 1
    r = 1.0 - abs(s2[0].item())
    if done:
        n = 0
        s2 = torch.zeros(2)
    return s2, r, float(done)


for it in range(12):
    S, A, LP, Rw, Dn, V = [], [], [], [], [], []
    for t in range(64):
        with torch.no_grad():
            d, v = Categorical(logits=pi(state)), vf(state).squeeze()
        a = d.sample()
        S.append(state), A.append(a), LP.append(d.log_prob(a)), V.append(v)
        state, r, done = step(state, a.item())
        Rw.append(r), Dn.append(done)
    with torch.no_grad():
        nextv = vf(state).squeeze()
    adv, last = torch.zeros(64), 0.0
    for t in reversed(range(64)):
        nv = nextv if t == 63 else V[t + 1]
        delta = Rw[t] + 0.98 * nv * (1 - Dn[t]) - V[t]
        last = delta + 0.98 * 0.95 * (1 - Dn[t]) * last
        adv[t] = last
    ret = adv + torch.stack(V)
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    s, a, lp = torch.stack(S), torch.stack(A), torch.stack(LP)
    for _ in range(3):
        d = Categorical(logits=pi(s))
        ratio = (d.log_prob(a) - lp).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean() + 0.5 * (vf(s).squeeze(-1) - ret).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(it, sum(Rw), loss.item())
