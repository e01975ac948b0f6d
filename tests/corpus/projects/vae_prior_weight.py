"""A beta-VAE with a warm-up of the KL weight."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Encoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2 * latent))

    def forward(self, x):
        return self.net(x).chunk(2, dim=1)


class Decoder(nn.Module):
    def __init__(self, latent):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, z):
        return self.net(z)


class BetaVAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.encoder, self.decoder = Encoder(latent), Decoder(latent)

    def forward(self, x):
        mean, log_var = self.encoder(x)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        return self.decoder(z), mean, log_var


def kl_divergence(mean, log_var):
    return 0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum(dim=1).mean()


def kl_weight(epoch, warmup, top=0.5):
    return top * min(1.0, (epoch + 1) / warmup)


def main(epochs=10):
    torch.manual_seed(17)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    model = BetaVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        beta = kl_weight(epoch, warmup=4)
        sums = {"recon": 0.0, "kl": 0.0}
        for rows in torch.randperm(len(x)).split(64):
            out, mean, log_var = model(x[rows])
            recon = F.mse_loss(out, x[rows], reduction="none").sum(dim=1).mean()
            kl = kl_divergence(mean, log_var)
            loss = recon + beta * kl
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            sums["recon"] += recon.item() * len(rows)
            sums["kl"] += kl.item() * len(rows)
        print(f"epoch {epoch} recon {sums['recon'] / len(x):.3f} kl {sums['kl'] / len(x):.3f}")


if __name__ == "__main__":
    main()
