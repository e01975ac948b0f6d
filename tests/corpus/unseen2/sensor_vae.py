import numpy as np
import torch
from torch import nn


def sensor_frames(n, seed):
    """Eight correlated channels driven by two hidden factors."""
    g = torch.Generator().manual_seed(seed)
    mix = torch.randn(2, 8, generator=torch.Generator().manual_seed(99))
    z = torch.randn(n, 2, generator=g)
    return z @ mix + 0.3 * torch.randn(n, 8, generator=g)


class GaussianVAE(nn.Module):
    def __init__(self, d=8, latent=2, width=32):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, width), nn.Tanh(), nn.Linear(width, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, width), nn.Tanh(), nn.Linear(width, d))
        self.noise_var = 0.09

    def sample(self, mu, logvar):
        sigma = logvar.exp()
        return mu + sigma * torch.randn_like(mu)

    def elbo_terms(self, x):
        mu, logvar = self.encoder(x).chunk(2, dim=-1)
        recon = self.decoder(self.sample(mu, logvar))
        nll = 0.5 * ((x - recon) ** 2 / self.noise_var + np.log(2 * np.pi * self.noise_var)).sum(-1)
        kl = 0.5 * (mu ** 2 + logvar.exp() - 1 - logvar).sum(-1)
        return nll.mean(), kl.mean()


def main():
    torch.manual_seed(17)
    data, held = sensor_frames(2000, 1), sensor_frames(500, 2)
    vae = GaussianVAE()
    opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
    for step in range(900):
        x = data[torch.randint(0, len(data), (128,))]
        nll, kl = vae.elbo_terms(x)
        loss = nll + kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 200 == 0:
            print(f"step {step} nll {nll.item():.3f} kl {kl.item():.3f}")
    with torch.no_grad():
        mu, logvar = vae.encoder(held).chunk(2, dim=-1)
        post_sd = (0.5 * logvar).exp().mean().item()
        nll, kl = vae.elbo_terms(held)
        gen = vae.decoder(torch.randn(4000, 2)) + 0.3 * torch.randn(4000, 8)
    gap = (torch.cov(gen.T) - torch.cov(held.T)).abs().mean().item()
    print(f"held-out -elbo {(nll + kl).item():.3f} posterior sd {post_sd:.3f} covariance gap {gap:.3f}")


main()
