import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(77)


class StampVAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Linear(64, 96)
        self.mu = nn.Linear(96, latent)
        self.logvar = nn.Linear(96, latent)
        self.dec1 = nn.Linear(latent, 96)
        self.dec2 = nn.Linear(96, 64)
        self.latent = latent

    def encode(self, x):
        h = F.relu(self.enc(x))
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(logvar)
        return mu + std * torch.randn_like(std)

    def decode(self, z):
        return self.dec2(F.relu(self.dec1(z)))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def elbo_loss(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (rec + kld) / len(x), rec / len(x), kld / len(x)


x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
x = x[torch.randperm(len(x))]
train, test = x[:1500], x[1500:]
vae = StampVAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(25):
    vae.train()
    for idx in torch.randperm(len(train)).split(100):
        logits, mu, logvar = vae(train[idx])
        loss, rec, kld = elbo_loss(logits, train[idx], mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {loss.item():.2f} rec {rec.item():.2f} kl {kld.item():.2f}")

vae.eval()
with torch.no_grad():
    mu, logvar = vae.encode(test)
    z = vae.reparameterize(mu, logvar)
    print("test rec", F.binary_cross_entropy_with_logits(vae.decode(z), test, reduction="sum").item() / len(test))
    print("aggregate posterior std", (mu + (0.5 * logvar).exp() * torch.randn_like(mu)).std(0).mean().item())
