import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(13)
N_CTX, N_ARMS = 6, 4
payoff = torch.rand(N_CTX, N_ARMS)


def play(ctx, arm):
    return (torch.rand(len(ctx)) < payoff[ctx, arm]).float()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(N_CTX, 16)
        self.pi = nn.Linear(16, N_ARMS)
        self.v = nn.Linear(16, 1)

    def forward(self, ctx):
        h = torch.tanh(self.emb(ctx))
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
avg = 0.0
for it in range(500):
    ctx = torch.randint(0, N_CTX, (64,))
    dist, value = policy(ctx)
    arm = dist.sample()
    reward = play(ctx, arm)
    advantage = reward - value.detach()
    pg = -(dist.log_prob(arm) * advantage).mean()
    vf = 0.5 * (reward - value).pow(2).mean()
    loss = pg + vf - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = 0.95 * avg + 0.05 * reward.mean().item()
    if it % 100 == 99:
        print(f"iter {it + 1} average reward {avg:.3f} entropy {dist.entropy().mean().item():.3f}")

with torch.no_grad():
    best = policy(torch.arange(N_CTX))[0].probs.argmax(1)
print("expected reward", payoff[torch.arange(N_CTX), best].mean().item(), "optimum", payoff.max(1).values.mean().item())
