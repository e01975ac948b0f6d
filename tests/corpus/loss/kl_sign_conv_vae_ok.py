import torch
from sklearn.datasets import load_digits
from torch import nn


class ConvVAE(nn.Module):
    def __init__(self, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 4, 2, 1), nn.ELU(),      # 8x8 -> 4x4
            nn.Conv2d(8, 16, 4, 2, 1), nn.ELU(),     # 4x4 -> 2x2
            nn.Flatten(),
        )
        self.to_mean = nn.Linear(64, latent)
        self.to_logvar = nn.Linear(64, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, 64), nn.ELU(),
            nn.Unflatten(1, (16, 2, 2)),
            nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ELU(),
            nn.ConvTranspose2d(8, 1, 4, 2, 1),
        )

    def forward(self, x):
        h = self.encoder(x)
        mean, logvar = self.to_mean(h), self.to_logvar(h)
        z = mean + torch.randn_like(mean) * (logvar / 2).exp()
        return self.decoder(z), mean, logvar


def elbo_terms(logits, x, mean, logvar):
    recon = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="none").flatten(1).sum(1)
    kl = -0.5 * (1 + logvar - mean ** 2 - logvar.exp()).sum(1)
    return recon.mean(), kl.mean()


def train(epochs=8, beta=1.0):
    torch.manual_seed(0)
    x = torch.tensor(load_digits().images[:640] / 16, dtype=torch.float32)[:, None]
    vae = ConvVAE()
    opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for batch in x[torch.randperm(len(x))].split(64):
            recon, kl = elbo_terms(*((out := vae(batch))[0], batch, out[1], out[2]))
            loss = recon + beta * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch}: loss={loss.item():.4f} recon={recon.item():.4f} kl={kl.item():.4f}")
    return vae


if __name__ == "__main__":
    train()
