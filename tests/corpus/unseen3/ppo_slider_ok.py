import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(21)
policy = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 3))
value = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=4e-3)


def rollout(n=48, horizon=10):
    s = torch.rand(n, 1) * 4 - 2
    out = []
    with torch.no_grad():
        for _ in range(horizon):
            dist = Categorical(logits=policy(s))
            a = dist.sample()
            nxt = (s + 0.4 * (a - 1).unsqueeze(1)).clamp(-3, 3)
            out.append((s, a, dist.log_prob(a), -nxt.abs().squeeze(1)))
            s = nxt
        ret, rets = value(s).squeeze(1), []
        for step in reversed(out):
            ret = step[3] + 0.9 * ret
            rets.append(ret)
    S, A, LP, R = (torch.cat(c) for c in zip(*out))
    return S, A, LP, torch.cat(rets[::-1]), R.mean().item()


for it in range(25):
    S, A, old_lp, returns, mean_r = rollout()
    with torch.no_grad():
        adv = returns - value(S).squeeze(1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        for idx in torch.randperm(len(S)).split(160):
            dist = Categorical(logits=policy(S[idx]))
            ratio = (dist.log_prob(A[idx]) - old_lp[idx]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            pg = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean()
            vf = (value(S[idx]).squeeze(1) - returns[idx]).pow(2).mean()
            loss = pg + 0.5 * vf - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    if it % 6 == 0:
        print(f"iteration {it} reward {mean_r:.3f} value loss {vf.item():.3f}")
