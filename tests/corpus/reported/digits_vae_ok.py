import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader


class VAE(nn.Module):
    def __init__(self, latent=6, hidden=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def reparameterise(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        hidden = self.encoder(x)
        mu, logvar = self.mu(hidden), self.logvar(hidden)
        return self.decoder(self.reparameterise(mu, logvar)), mu, logvar


def elbo_loss(logits, x, mu, logvar):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    return reconstruction + divergence, reconstruction, divergence


def main():
    torch.manual_seed(63)
    images = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    loader = DataLoader(images, batch_size=100, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(10):
        sums = torch.zeros(2)
        for x in loader:
            logits, mu, logvar = model(x)
            loss, reconstruction, divergence = elbo_loss(logits, x, mu, logvar)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += torch.tensor([reconstruction.item(), divergence.item()]) * len(x)
        mean = sums / len(images)
        print(f"epoch {epoch} reconstruction {mean[0]:.2f} divergence {mean[1]:.2f}")


if __name__ == "__main__":
    main()
