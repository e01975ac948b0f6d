"""A Wasserstein GAN that freezes the critic while the generator learns."""
import torch
from torch import nn


def target_points(count, generator):
    kind = torch.randint(0, 3, (count,), generator=generator)
    centers = torch.tensor([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
    return centers[kind] + 0.1 * torch.randn(count, 2, generator=generator)


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


def critic_round(critic, generator, optimizer, source, clip):
    set_trainable(critic, True)
    real = target_points(128, source)
    with torch.no_grad():
        fake = generator(torch.randn(128, 6))
    loss = critic(fake).mean() - critic(real).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-clip, clip)
    return -loss.item()


def generator_round(critic, generator, optimizer):
    set_trainable(critic, False)
    loss = -critic(generator(torch.randn(128, 6))).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def main(rounds=120):
    torch.manual_seed(5)
    source = torch.Generator().manual_seed(5)
    critic, generator = network(2, 1), network(6, 2)
    critic_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    generator_optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
    for number in range(rounds):
        for _ in range(5 if number > 5 else 20):
            distance = critic_round(critic, generator, critic_optimizer, source, clip=0.1)
        generator_round(critic, generator, generator_optimizer)
        if number % 30 == 29:
            print(f"round {number} distance {distance:.4f}")


main()
