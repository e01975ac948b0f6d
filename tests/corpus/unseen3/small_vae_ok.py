import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(16)
X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)


class VAE(nn.Module):
    def __init__(self, z=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, 64), nn.ReLU(), nn.Linear(64, 64))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu) if self.training else mu
        return self.dec(z), mu, logvar


def elbo(logits, x, mu, logvar, beta):
    rec = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
    return (rec + beta * kl).mean(), rec.mean(), kl.mean()


vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
for epoch in range(8):
    vae.train()
    beta = min(1.0, (epoch + 1) / 4)
    for idx in torch.randperm(len(X)).split(64):
        logits, mu, logvar = vae(X[idx])
        loss, rec, kl = elbo(logits, X[idx], mu, logvar, beta)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} rec {rec.item():.2f} kl {kl.item():.2f} beta {beta:.2f}")
vae.eval()
with torch.no_grad():
    print("samples in range", torch.sigmoid(vae.dec(torch.randn(5, 6))).mean().item())
