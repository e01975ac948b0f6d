"""A variational autoencoder on handwritten digits, with four classic bugs in it.

    stepscope run examples/vae_bugs.py

Mend what it says and run it again, until nothing is left. The repaired script trains in a few seconds and writes three
pictures: digits.png (originals and reconstructions), samples.png and latent.png. The bugs are those of many a first
VAE; `python examples/vae_bugs.py` alone names one of the four. It reads real MNIST too (an .npz file): --data mnist.npz
"""

import argparse

import matplotlib
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

matplotlib.use("Agg")
from matplotlib import pyplot as plt


class Encoder(nn.Module):
    def __init__(self, pixels, hidden, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, latent)
        self.log_var = nn.Linear(hidden, latent)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h)


class Decoder(nn.Module):
    def __init__(self, pixels, hidden, latent):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.output = nn.Linear(latent, pixels)

    def forward(self, z):
        return self.output(self.body(z))


class VAE(nn.Module):
    def __init__(self, pixels, hidden, latent):
        super().__init__()
        self.encoder = Encoder(pixels, hidden, latent)
        self.decoder = Decoder(pixels, hidden, latent)

    def reparameterize(self, mean, log_var):
        noise = torch.randn(mean.shape)
        return mean + noise * log_var

    def forward(self, x):
        mean, log_var = self.encoder(x)
        z = self.reparameterize(mean, log_var)
        return self.decoder(z), mean, log_var


def load(path):
    images = load_digits().images / 16.0 if path is None else np.load(path)["x_train"] / 255.0
    return torch.tensor(images.reshape(len(images), -1), dtype=torch.float32)


def vae_loss(logits, x, mean, log_var):
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * (1 + log_var - mean.pow(2) - log_var.exp()).sum()
    return (reconstruction + divergence) / len(x)


def train(model, loader, device, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for (x,) in loader:
            x = x.to(device)
            logits, mean, log_var = model(x)
            loss = vae_loss(logits, x, mean, log_var)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1:2d}  loss {total / len(loader):.3f}")


def tiles(images, columns=10):
    side = int(images.shape[1] ** 0.5)
    rows = images[: len(images) // columns * columns].reshape(-1, columns, side, side)
    return np.concatenate([np.concatenate(list(row), axis=1) for row in rows])


@torch.no_grad()
def draw(model, data, device, latent):
    model.eval()
    x = data[:20].to(device)
    seen = model(x)[0].sigmoid().cpu().numpy()
    plt.imsave("digits.png", tiles(np.concatenate([x.cpu().numpy(), seen])), cmap="gray")
    z = torch.randn(40, latent, device=device)
    plt.imsave("samples.png", tiles(model.decoder(z).sigmoid().cpu().numpy()), cmap="gray")
    mean, _ = model.encoder(data.to(device))
    plt.figure(figsize=(5, 5))
    plt.scatter(*mean[:, :2].cpu().numpy().T, s=2)
    plt.savefig("latent.png")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--latent", type=int, default=8)
    parser.add_argument("--data", help="an .npz file with x_train, as MNIST comes")
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = load(args.data)
    loader = DataLoader(TensorDataset(data), batch_size=64, shuffle=True)
    model = VAE(data.shape[1], 128, args.latent).to(device)
    train(model, loader, device, args.epochs, args.lr)
    draw(model, data, device, args.latent)


if __name__ == "__main__":
    main()
