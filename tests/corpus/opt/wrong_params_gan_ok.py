import torch
import torch.nn as nn
from torch.optim import Adam


class Generator(nn.Module):
    def __init__(self, z_dim=6, out_dim=12):
        super().__init__()
        self.z_dim = z_dim
        self.net = nn.Sequential(nn.Linear(z_dim, 32), nn.ReLU(), nn.Linear(32, out_dim), nn.Tanh())

    def forward(self, n):
        return self.net(torch.randn(n, self.z_dim))


class Critic(nn.Module):
    def __init__(self, in_dim=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 32), nn.LeakyReLU(0.1), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


def real_batch(n):
    phase = torch.rand(n, 1) * 6.2831
    return torch.sin(phase + torch.linspace(0, 3.0, 12)) * 0.8


def train(steps=60, n=48):
    torch.manual_seed(1)
    generator, critic = Generator(), Critic()
    opt_gen = Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.9))
    opt_critic = Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
    for step in range(steps):
        opt_critic.zero_grad()
        fake = generator(n).detach()
        loss_c = torch.relu(1 - critic(real_batch(n))).mean() + torch.relu(1 + critic(fake)).mean()
        loss_c.backward()
        opt_critic.step()

        opt_gen.zero_grad()
        loss_g = -critic(generator(n)).mean()
        loss_g.backward()
        opt_gen.step()
        if step % 10 == 0:
            print(f"{step:3d} critic {loss_c.item():.5f} gen {loss_g.item():.5f}")


if __name__ == "__main__":
    train()
