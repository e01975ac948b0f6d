import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader


class VAE(nn.Module):
    def __init__(self, x_dim=64, h_dim=64, z_dim=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(x_dim, h_dim), nn.ReLU())
        self.fc_mu = nn.Linear(h_dim, z_dim)
        self.fc_logvar = nn.Linear(h_dim, z_dim)
        self.dec = nn.Sequential(nn.Linear(z_dim, h_dim), nn.ReLU(), nn.Linear(h_dim, x_dim), nn.Sigmoid())

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.fc_mu(h), self.fc_logvar(h)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


def main():
    torch.manual_seed(0)
    X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    train, test = X[:1500], X[1500:]
    loader = DataLoader(train, batch_size=64, shuffle=True)
    model = VAE()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(25):
        model.train()
        tb = tk = 0.0
        for x in loader:
            recon, mu, logvar = model(x)
            loss, bce, kld = loss_function(recon, x, mu, logvar)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tb += bce.item()
            tk += kld.item()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: recon {tb:.3f} kl {tk:.3f}")
    model.eval()
    with torch.no_grad():
        mu = model.fc_mu(model.enc(test))
        err = F.mse_loss(model.dec(mu), test).item()
    print(f"test reconstruction mse {err:.4f} (variance of data {test.var(0).mean():.4f})")


if __name__ == "__main__":
    main()
