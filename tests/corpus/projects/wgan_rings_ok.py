"""WGAN-GP on points of two rings."""
import math

import torch
from torch import autograd, nn, optim


def rings(count, generator):
    angle = torch.rand(count, generator=generator) * 2 * math.pi
    radius = torch.where(torch.rand(count, generator=generator) < 0.5, 0.5, 1.0)
    points = torch.stack([angle.cos() * radius, angle.sin() * radius], dim=1)
    return points + 0.02 * torch.randn(count, 2, generator=generator)


def block(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 48), nn.LeakyReLU(0.1), nn.Linear(48, 48), nn.LeakyReLU(0.1), nn.Linear(48, outputs)
    )


class WGAN:
    def __init__(self, noise=4, weight=10.0, critic_steps=4):
        self.noise, self.weight, self.critic_steps = noise, weight, critic_steps
        self.generator, self.critic = block(noise, 2), block(2, 1)
        self.g_optimizer = optim.Adam(self.generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
        self.c_optimizer = optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.9))

    def sample(self, count):
        return self.generator(torch.randn(count, self.noise))

    def gradient_penalty(self, real, fake):
        alpha = torch.rand(len(real), 1)
        mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        scores = self.critic(mixed)
        gradients = autograd.grad(
            outputs=scores,
            inputs=mixed,
            grad_outputs=torch.ones_like(scores),
            create_graph=True,
        )[0]
        return self.weight * (gradients.norm(2, dim=1) - 1).pow(2).mean()

    def train_critic(self, real):
        fake = self.sample(len(real)).detach()
        self.c_optimizer.zero_grad()
        distance = self.critic(real).mean() - self.critic(fake).mean()
        penalty = self.gradient_penalty(real, fake)
        loss = -distance + penalty
        loss.backward()
        self.c_optimizer.step()
        return distance.item(), penalty.item()

    def train_generator(self, count):
        self.g_optimizer.zero_grad()
        loss = -self.critic(self.sample(count)).mean()
        loss.backward()
        self.g_optimizer.step()


def main():
    torch.manual_seed(8)
    source = torch.Generator().manual_seed(8)
    gan = WGAN()
    for step in range(150):
        for _ in range(gan.critic_steps):
            distance, penalty = gan.train_critic(rings(128, source))
        gan.train_generator(128)
        if step % 50 == 49:
            print(f"step {step} distance {distance:.3f} penalty {penalty:.3f}")


if __name__ == "__main__":
    main()
