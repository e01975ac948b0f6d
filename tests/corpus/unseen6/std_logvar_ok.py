import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(36, 64), nn.ReLU())
        self.mu, self.logvar = nn.Linear(64, 4), nn.Linear(64, 4)
        self.dec = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 36))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std)
        return self.dec(z), mu, logvar


def bars(n):
    x = torch.zeros(n, 6, 6)
    for i in range(n):
        x[i, torch.randint(0, 6, ())] = 1
        x[i, :, torch.randint(0, 6, ())] = 1
    return x.flatten(1)


data = bars(1000)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), 2e-3)
for epoch in range(6):
    for x in data[torch.randperm(1000)].split(50):
        out, mu, logvar = vae(x)
        rec = F.binary_cross_entropy_with_logits(out, x, reduction="sum") / len(x)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
        loss = rec + kl
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, rec.item(), kl.item())
