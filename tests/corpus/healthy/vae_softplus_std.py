import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal, kl_divergence
from sklearn.datasets import load_digits

torch.manual_seed(0)
X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)


class VAE(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 64))
        self.register_buffer("zero", torch.zeros(latent))
        self.register_buffer("one", torch.ones(latent))

    def posterior(self, x):
        loc, raw = self.enc(x).chunk(2, dim=-1)
        return Independent(Normal(loc, F.softplus(raw) + 1e-4), 1)

    def forward(self, x, beta):
        q = self.posterior(x)
        logits = self.dec(q.rsample())
        nll = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(-1)
        kl = kl_divergence(q, Independent(Normal(self.zero, self.one), 1))
        return (nll + beta * kl).mean(), kl.mean()


model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    beta = 0.2 * min(1.0, epoch / 3)              # the KL term is annealed in from zero
    for idx in torch.randperm(len(X)).split(60):
        loss, kl = model(X[idx], beta)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f} kl {kl.item():.4f}")
