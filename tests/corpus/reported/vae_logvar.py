import torch
from torch import nn
from torch.nn import functional as F
from sklearn.datasets import load_digits


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Linear(64, 96)
        self.mu = nn.Linear(96, latent)
        self.logvar = nn.Linear(96, latent)
        self.dec1 = nn.Linear(latent, 96)
        self.dec2 = nn.Linear(96, 64)

    def encode(self, x):
        h = F.relu(self.enc(x))
        return self.mu(h), self.logvar(h)

    def sample(self, mu, logvar):
        std = torch.exp(logvar)
        return mu + std * torch.randn_like(std)

    def decode(self, z):
        return self.dec2(F.relu(self.dec1(z)))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.sample(mu, logvar)), mu, logvar


def elbo_terms(logits, x, mu, logvar):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    return reconstruction, kl


def main():
    torch.manual_seed(21)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    train, test = x[:1500], x[1500:]
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 21):
        model.train()
        for batch in train[torch.randperm(len(train))].split(100):
            reconstruction, kl = elbo_terms(*_with_input(model, batch))
            loss = reconstruction + kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 0:
            model.eval()
            with torch.no_grad():
                r, k = elbo_terms(*_with_input(model, test))
            print(f"epoch {epoch}: test reconstruction {r:.2f} kl {k:.2f} elbo {-(r + k):.2f}")


def _with_input(model, batch):
    logits, mu, logvar = model(batch)
    return logits, batch, mu, logvar


if __name__ == "__main__":
    main()
