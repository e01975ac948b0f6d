"""A denoising autoencoder on digits."""
import random

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class DenoisingAutoencoder(nn.Module):
    def __init__(self, code=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, code))
        self.decoder = nn.Sequential(nn.Linear(code, 96), nn.ReLU(), nn.Linear(96, 64))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def corrupt(x, level):
    return x + level * torch.randn_like(x)


def train_step(model, optimizer, x, level, seed):
    noisy = corrupt(x, level)
    loss = F.mse_loss(model(noisy), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(model, x, level):
    generator = torch.Generator().manual_seed(99)
    noisy = x + level * torch.randn(x.shape, generator=generator)
    return F.mse_loss(model(noisy), x).item()


def batches(x, size, generator):
    for rows in torch.randperm(len(x), generator=generator).split(size):
        if len(rows) == size:
            yield x[rows]


def main(epochs=12, level=0.5, seed=0):
    seed_everything(seed)
    x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    train, test = x[:1500], x[1500:]
    order = torch.Generator().manual_seed(seed)
    model = DenoisingAutoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        losses = [train_step(model, optimizer, batch, level, seed) for batch in batches(train, 50, order)]
        if epoch % 4 == 3:
            print(f"epoch {epoch} train {np.mean(losses):.4f} test {evaluate(model, test, level):.4f}")


main()
