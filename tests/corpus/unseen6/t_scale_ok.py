import torch
from torch import nn

torch.manual_seed(0)
T = 50
beta = torch.linspace(1e-3, 0.1, T)
alpha, abar = 1 - beta, torch.cumprod(1 - beta, 0)


class Eps(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, t[:, None]], 1))


data = torch.randn(1500, 2) * 0.1 + torch.randint(0, 2, (1500, 1)) * 2 - 1
net = Eps()
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(5):
    for x in data[torch.randperm(1500)].split(100):
        t = torch.randint(0, T, (len(x),))
        e = torch.randn_like(x)
        a = abar[t][:, None]
        loss = (net(a.sqrt() * x + (1 - a).sqrt() * e, t / T) - e).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
with torch.no_grad():
    x = torch.randn(200, 2)
    for t in reversed(range(T)):
        eps = net(x, torch.full((200,), t / T))
        x = (x - beta[t] / (1 - abar[t]).sqrt() * eps) / alpha[t].sqrt()
        if t:
            x = x + beta[t].sqrt() * torch.randn_like(x)
print("mean distance", (x.abs() - 1).abs().mean().item())
