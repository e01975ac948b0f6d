"""A GAN on a ring of points, with manual optimization in Lightning."""
import math

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ring(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        angle = torch.rand(count, generator=generator) * 2 * math.pi
        self.points = torch.stack([angle.cos(), angle.sin()], 1)
        self.points += 0.05 * torch.randn(count, 2, generator=generator)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.points[index]


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, outputs))


class LitGAN(L.LightningModule):
    def __init__(self, latent=8, lr=1e-3):
        super().__init__()
        self.automatic_optimization = False
        self.latent, self.lr = latent, lr
        self.generator, self.discriminator = mlp(latent, 2), mlp(2, 1)
        self.shown = []

    def sample(self, count):
        return self.generator(torch.randn(count, self.latent, device=self.device))

    def training_step(self, real, batch_idx):
        g_opt, d_opt = self.optimizers()
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = self.sample(len(real))
        d_loss = F.binary_cross_entropy_with_logits(self.discriminator(real), ones)
        d_loss = d_loss + F.binary_cross_entropy_with_logits(self.discriminator(fake.detach()), zeros)
        self.manual_backward(d_loss)
        d_opt.step()

        g_loss = F.binary_cross_entropy_with_logits(self.discriminator(fake), ones)
        g_opt.zero_grad()
        self.manual_backward(g_loss)
        g_opt.step()
        self.shown.append((d_loss.item(), g_loss.item()))

    def configure_optimizers(self):
        g_opt = torch.optim.Adam(self.generator.parameters(), lr=self.lr, betas=(0.5, 0.999))
        d_opt = torch.optim.Adam(self.discriminator.parameters(), lr=self.lr, betas=(0.5, 0.999))
        return g_opt, d_opt


def main():
    L.seed_everything(3, verbose=False)
    loader = DataLoader(Ring(1024, 0), batch_size=64, shuffle=True)
    model = LitGAN()
    trainer = L.Trainer(
        max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(model, loader)
    with torch.no_grad():
        radius = model.sample(500).norm(dim=1)
    print(f"d {model.shown[-1][0]:.3f} g {model.shown[-1][1]:.3f} radius {radius.mean():.3f}")


main()
