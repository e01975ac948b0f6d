import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(4)
N_ARMS, N_CTX, EPISODES, BATCH = 4, 3, 80, 64
payoff = torch.tensor([[0.9, 0.1, 0.2, 0.3],
                       [0.2, 0.8, 0.1, 0.4],
                       [0.1, 0.3, 0.2, 0.9]])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(N_CTX, 16), nn.Tanh(), nn.Linear(16, N_ARMS))

    def forward(self, ctx):
        return Categorical(logits=self.net(ctx))


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
baseline = 0.0

for ep in range(EPISODES):
    ctx_id = torch.randint(N_CTX, (BATCH,))
    ctx = nn.functional.one_hot(ctx_id, N_CTX).float()
    dist = policy(ctx)
    action = dist.sample()
    reward = torch.bernoulli(payoff[ctx_id, action])
    advantage = reward - baseline
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()

    policy_loss = -(dist.log_prob(action) * advantage).mean()
    loss = policy_loss - 0.01 * dist.entropy().mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if ep % 16 == 15:
        print(f"episode {ep + 1:3d} loss {loss.item():+.5f} mean reward {reward.mean().item():.4f}")
