import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
D, Z = 64, 8
w = torch.randn(3, D)
data = torch.sigmoid(torch.randn(1200, 3) @ w)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, 2 * Z))
        self.d = nn.Sequential(nn.Linear(Z, 64), nn.ReLU(), nn.Linear(64, D), nn.Sigmoid())

    def forward(self, x):
        mu, logvar = self.e(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.d(z), mu, logvar


net = VAE()
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(8):
    for x in data[torch.randperm(1200)].split(60):
        out, mu, logvar = net(x)
        rec = F.mse_loss(out, x, reduction="sum") / len(x)
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
        loss = rec + kl
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, rec.item(), kl.item())
