import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from sklearn.datasets import load_digits


class Encoder(nn.Module):
    def __init__(self, z_dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 80), nn.ELU())
        self.stats = nn.Linear(80, 2 * z_dim)

    def forward(self, x):
        return self.stats(self.body(x)).chunk(2, dim=-1)


class Trainer:
    def __init__(self, z_dim=5):
        self.encoder = Encoder(z_dim)
        self.decoder = nn.Sequential(nn.Linear(z_dim, 80), nn.ELU(), nn.Linear(80, 64))
        params = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.optimizer = torch.optim.Adam(params, lr=3e-3)
        self.recon = nn.MSELoss()

    def losses(self, x):
        mu, logvar = self.encoder(x)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        out = self.decoder(z)
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(dim=1)
        return self.recon(out, x), 0.1 * kl.mean()

    def epoch(self, loader):
        for x in loader:
            recon, kl = self.losses(x)
            loss = recon + kl
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def report(self, x):
        mu, _ = self.encoder(x)
        error = (self.decoder(mu) - x).pow(2).mean().item()
        return error, mu.std(dim=0).mean().item()


def main():
    torch.manual_seed(2)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    loader = DataLoader(x[:1400], batch_size=100, shuffle=True)
    trainer = Trainer()
    for epoch in range(1, 16):
        trainer.epoch(loader)
        if epoch % 5 == 0:
            error, spread = trainer.report(x[1400:])
            print(f"epoch {epoch}: held-out error {error:.4f}, spread of the codes {spread:.3f}")


if __name__ == "__main__":
    main()
