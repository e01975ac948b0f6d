"""A vanilla GAN on two moons, with smoothed labels for real points."""
import torch
from sklearn.datasets import make_moons
from torch import nn


def make_networks(latent):
    generator = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    discriminator = nn.Sequential(
        nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)
    )
    return generator, discriminator


class GanTrainer:
    def __init__(self, latent=8, lr=1e-3):
        self.latent = latent
        self.generator, self.discriminator = make_networks(latent)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.discriminator.parameters(), lr=lr, betas=(0.5, 0.99))
        self.bce = nn.BCEWithLogitsLoss()

    def discriminator_step(self, real):
        fake = self.generator(torch.randn(len(real), self.latent)).detach()
        real_labels = torch.full((len(real), 1), 0.9)
        fake_labels = torch.zeros(len(real), 1)
        loss = self.bce(self.discriminator(real), real_labels) + self.bce(self.discriminator(fake), fake_labels)
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def generator_step(self, count):
        fake = self.generator(torch.randn(count, self.latent))
        wanted = torch.zeros(count, 1)
        loss = self.bce(self.discriminator(fake), wanted)
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    @torch.no_grad()
    def distance(self, real):
        fake = self.generator(torch.randn(len(real), self.latent))
        return (fake.mean(0) - real.mean(0)).norm().item()


def main(epochs=60):
    torch.manual_seed(13)
    points, _ = make_moons(1024, noise=0.05, random_state=0)
    points = torch.tensor(points, dtype=torch.float32)
    trainer = GanTrainer()
    for epoch in range(epochs):
        for rows in torch.randperm(len(points)).split(128):
            d_loss = trainer.discriminator_step(points[rows])
            g_loss = trainer.generator_step(len(rows))
        if epoch % 20 == 19:
            print(f"epoch {epoch} d {d_loss:.3f} g {g_loss:.3f} distance {trainer.distance(points):.3f}")


if __name__ == "__main__":
    main()
