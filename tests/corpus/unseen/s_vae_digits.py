import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Linear(64, 64)
        self.mu = nn.Linear(64, latent)
        self.logvar = nn.Linear(64, latent)
        self.dec1 = nn.Linear(latent, 64)
        self.dec2 = nn.Linear(64, 64)

    def encode(self, x):
        h = F.relu(self.enc(x))
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def decode(self, z):
        return torch.sigmoid(self.dec2(F.relu(self.dec1(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


images = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
train, test = images[:1500], images[1500:]
loader = DataLoader(train, batch_size=50, shuffle=True)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(10):
    model.train()
    for x in loader:
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss, bce, kld = loss_function(recon, x, mu, logvar)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} bce {bce.item():.3f} kld {kld.item():.4f}")

model.eval()
with torch.no_grad():
    mu, _ = model.encode(test)
    err = (model.decode(mu) - test).pow(2).mean().item()
print(f"test reconstruction mse {err:.4f}, baseline {(test - train.mean(0)).pow(2).mean().item():.4f}")
