import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self, noise, width):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, n):
        return self.net(torch.randn(n, self.noise))


def make_discriminator(width):
    return nn.Sequential(nn.Linear(1, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))


def real_batch(n):
    return 4.0 + 1.25 * torch.randn(n, 1)


def train(args):
    generator = Generator(4, args.width)
    discriminator = make_discriminator(args.width)
    g_optimizer = torch.optim.Adam(generator.parameters(), lr=args.lr, betas=(0.5, 0.99))
    d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=args.lr, betas=(0.5, 0.99))
    for step in range(1, args.steps + 1):
        fake = generator(args.batch)
        d_loss = F.softplus(-discriminator(real_batch(args.batch))).mean()
        d_loss = d_loss + F.softplus(discriminator(fake.detach())).mean()
        d_optimizer.zero_grad()
        d_loss.backward()
        d_optimizer.step()

        g_optimizer.zero_grad()
        g_loss = F.softplus(-discriminator(fake.detach())).mean()
        g_loss.backward()
        g_optimizer.step()
        if step % 200 == 0:
            with torch.no_grad():
                sample = generator(2000)
            print(
                f"step {step} D {d_loss.item():.3f} G {g_loss.item():.3f} "
                f"mean {sample.mean().item():.2f} std {sample.std().item():.2f} (4.00, 1.25)"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    torch.manual_seed(0)
    train(parser.parse_args())
