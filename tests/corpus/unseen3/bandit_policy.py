import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(4)
N_CTX, N_ARMS = 6, 4
payoff = torch.rand(N_CTX, N_ARMS)
payoff[torch.arange(N_CTX), torch.randint(0, N_ARMS, (N_CTX,))] = 1.5


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(N_CTX, 32), nn.Tanh(), nn.Linear(32, N_ARMS))

    def forward(self, ctx):
        return Categorical(logits=self.net(ctx))


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
baseline = 0.0
history = []

for update in range(300):
    ctx_id = torch.randint(0, N_CTX, (64,))
    ctx = nn.functional.one_hot(ctx_id, N_CTX).float()
    dist = policy(ctx)
    action = dist.sample()
    reward = payoff[ctx_id, action] + 0.1 * torch.randn(64)
    advantage = reward - baseline
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    loss = (dist.log_prob(action) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(reward.mean().item())
    if (update + 1) % 50 == 0:
        print(f"update {update + 1}: reward {sum(history[-50:]) / 50:.3f}  loss {loss.item():+.3f}")

best = payoff.max(1).values.mean().item()
print(f"final reward {sum(history[-20:]) / 20:.3f}, best possible {best:.3f}")
