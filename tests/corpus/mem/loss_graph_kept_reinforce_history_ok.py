import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
ARMS = torch.tensor([[0.1, 0.8, 0.3], [0.9, 0.2, 0.1], [0.2, 0.3, 0.7]])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Embedding(3, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, context):
        return Categorical(logits=self.net(context))


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
baseline, smoothed = 0.0, None

for episode in range(1, 101):
    context = torch.randint(0, 3, (32,))
    pi = policy(context)
    action = pi.sample()
    reward = torch.bernoulli(ARMS[context, action])
    loss = -((reward - baseline) * pi.log_prob(action)).mean() - 0.01 * pi.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    value = loss.detach()
    smoothed = value if smoothed is None else 0.95 * smoothed + 0.05 * value
    if episode % 20 == 0:
        print(f"episode {episode} reward {baseline:.4f} loss {smoothed.item():.6f}")
