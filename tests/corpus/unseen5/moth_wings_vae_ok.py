"""Variational autoencoder for 8x8 moth wing patterns (digits)."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.fc1 = nn.Linear(64, 96)
        self.fc21 = nn.Linear(96, latent)
        self.fc22 = nn.Linear(96, latent)
        self.fc3 = nn.Linear(latent, 96)
        self.fc4 = nn.Linear(96, 64)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar):
    rec = F.mse_loss(recon, x, reduction="sum") / x.size(0)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return rec + 0.1 * kld, rec, kld


def main():
    torch.manual_seed(1)
    x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    train, test = x[:1400], x[1400:]
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 21):
        model.train()
        for idx in torch.randperm(len(train)).split(100):
            optimizer.zero_grad()
            recon, mu, logvar = model(train[idx])
            loss, rec, kld = loss_function(recon, train[idx], mu, logvar)
            loss.backward()
            optimizer.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} rec {rec.item():.4f} kld {kld.item():.5f}")
    model.eval()
    with torch.no_grad():
        mu, _ = model.encode(test)
        err = F.mse_loss(model.decode(mu), test).item()
        base = F.mse_loss(train.mean(0).expand_as(test), test).item()
    print(f"test pixel mse {err:.4f} (mean image {base:.4f}) latent std {mu.std(0).mean().item():.4f}")


if __name__ == "__main__":
    main()
