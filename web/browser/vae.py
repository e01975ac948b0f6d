"""The small variational autoencoder that `inside_store.py` records: a file of its own, as its ops name it."""

from __future__ import annotations

import torch
from torch import nn

import stepscope


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.mu = nn.Linear(64, 8)
        self.logvar = nn.Linear(64, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.body(x)
        return self.mu(h), self.logvar(h)


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        self.decoder = nn.Sequential(nn.Linear(8, 128), nn.ReLU(), nn.Linear(128, 784), nn.Sigmoid())

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mu, logvar = self.encoder(x)
        sigma = (0.5 * logvar).exp()
        z = mu + sigma * torch.randn_like(mu)
        return self.decoder(z), mu, logvar


def elbo(net: VAE, x: torch.Tensor) -> torch.Tensor:
    out, mu, logvar = net(x)
    likelihood = nn.functional.binary_cross_entropy(out, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)
    return likelihood + kl.mean()


def recorded(net: VAE, x: torch.Tensor, optimizer: torch.optim.Optimizer) -> stepscope.Step:
    with stepscope.record(net, stats=True) as step:
        optimizer.zero_grad()
        elbo(net, x).backward()
        optimizer.step()
    return step
