import numpy as np
import torch
import torch.nn as nn


def gaussian_clusters(n=600, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4, 10)) * 2
    which = rng.integers(0, 4, n)
    return (centres[which] + 0.3 * rng.normal(size=(n, 10))).astype(np.float32) / 2


class VAE(nn.Module):
    def __init__(self, n_in, n_hidden, n_latent):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, n_hidden), nn.Tanh())
        self.mu = nn.Linear(n_hidden, n_latent)
        self.logvar = nn.Linear(n_hidden, n_latent)
        self.dec = nn.Sequential(nn.Linear(n_latent, n_hidden), nn.Tanh(), nn.Linear(n_hidden, n_in))

    def sample(self, mu, logvar):
        eps = torch.randn_like(mu)
        return mu + eps * torch.exp(logvar)

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(self.sample(mu, logvar)), mu, logvar


class VAETrainer:
    def __init__(self, vae, data, beta=0.05, batch=60):
        self.vae, self.data, self.beta, self.batch = vae, torch.from_numpy(data), beta, batch
        self.opt = torch.optim.Adam(vae.parameters(), lr=5e-3)
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.opt, gamma=0.95)

    def losses(self, x):
        x_hat, mu, logvar = self.vae(x)
        mse = (x_hat - x).pow(2).sum(dim=1).mean()
        kl = 0.5 * (logvar.exp() + mu.pow(2) - 1 - logvar).sum(dim=1).mean()
        return mse, kl

    def fit(self, epochs):
        for epoch in range(epochs):
            for idx in torch.randperm(len(self.data)).split(self.batch):
                mse, kl = self.losses(self.data[idx])
                loss = mse + self.beta * kl
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            self.sched.step()
            print(f"{epoch:2d}  mse {mse.item():.5f}  kl {kl.item():.5f}")


if __name__ == "__main__":
    torch.manual_seed(3)
    VAETrainer(VAE(10, 32, 3), gaussian_clusters()).fit(9)
