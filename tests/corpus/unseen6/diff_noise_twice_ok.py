import torch
from torch import nn

torch.manual_seed(0)
T = 100
beta = torch.linspace(1e-4, 0.05, T)
abar = torch.cumprod(1 - beta, 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.t(t)], 1))


def q_sample(x0, t, noise):
    a = abar[t].unsqueeze(1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


data = torch.randn(2000, 2) * 0.1 + torch.randint(0, 2, (2000, 1)) * 2 - 1
model = Denoiser()
opt = torch.optim.Adam(model.parameters(), 2e-3)
for epoch in range(6):
    total = 0.0
    for x0 in data[torch.randperm(2000)].split(100):
        t = torch.randint(0, T, (len(x0),))
        noise = torch.randn_like(x0)
        xt = q_sample(x0, t, noise)
        loss = nn.functional.mse_loss(model(xt, t), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(epoch, total / 20)
