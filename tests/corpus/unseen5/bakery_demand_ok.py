# probabilistic demand forecast: predicts mean and spread of next-day bread sales
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

torch.manual_seed(5)


def sales(n_days):
    day = torch.arange(n_days).float()
    weekly = 20 * torch.sin(2 * torch.pi * day / 7)
    noise = torch.randn(n_days) * (5 + 4 * (day % 7 > 4).float())
    return 100 + weekly + noise


class DemandNet(nn.Module):
    def __init__(self, window=14):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(window, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.mu = nn.Linear(48, 1)
        self.sigma = nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return Normal(self.mu(h), F.softplus(self.sigma(h)) + 1e-3)


series = sales(420)
mean, std = series[:300].mean(), series[:300].std()
z = (series - mean) / std
windows = z.unfold(0, 15, 1)
x, y = windows[:, :14], windows[:, 14:]
x_train, y_train, x_val, y_val = x[:280], y[:280], x[300:], y[300:]

net = DemandNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(60):
    order = torch.randperm(len(x_train))
    for idx in order.split(56):
        dist = net(x_train[idx])
        nll = -dist.log_prob(y_train[idx]).mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d} nll {nll.item():.4f}")

with torch.no_grad():
    dist = net(x_val)
    inside = ((y_val - dist.mean).abs() < 1.64 * dist.stddev).float().mean()
print(f"val nll {-dist.log_prob(y_val).mean().item():.4f} coverage {inside.item():.3f}")
