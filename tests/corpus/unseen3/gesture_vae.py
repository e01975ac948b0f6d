import torch
import torch.nn as nn

torch.manual_seed(26)
basis = torch.randn(3, 20)


def gestures(n):
    return torch.tanh(torch.randn(n, 3) @ basis) + 0.05 * torch.randn(n, 20)


class GestureVAE(nn.Module):
    def __init__(self, z_dim=3, hidden=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, z_dim)
        self.logvar = nn.Linear(hidden, z_dim)
        self.decoder = nn.Sequential(nn.Linear(z_dim, hidden), nn.ReLU(), nn.Linear(hidden, 20))

    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.mu(h), self.logvar(h)
        return self.decoder(self.reparameterize(mu, logvar)), mu, logvar


def vae_loss(recon, x, mu, logvar):
    rec = 0.5 * ((recon - x) ** 2).sum(1).mean() / 0.1
    kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
    return rec + kl, rec, kl


model = GestureVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(400):
    x = gestures(64)
    recon, mu, logvar = model(x)
    loss, rec, kl = vae_loss(recon, x, mu, logvar)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(f"step {step} loss {loss.item():.3f} rec {rec.item():.3f} kl {kl.item():.3f}")

with torch.no_grad():
    x = gestures(1000)
    recon, mu, logvar = model(x)
    codes = model.reparameterize(mu, logvar)
print(f"aggregate posterior std {codes.std(0).mean():.3f} mean posterior variance {logvar.exp().mean():.3f}")
