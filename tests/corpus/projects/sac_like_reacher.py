"""A soft actor-critic in miniature on a one-step reaching task."""
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, outputs))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(2, 4)

    def forward(self, state):
        mean, log_std = self.net(state).chunk(2, dim=1)
        dist = Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(1)
        return action, log_prob


def reward_of(state, action):
    return -(state + action).pow(2).sum(1)


def critic_update(critic, target, optimizer, state, action, reward):
    value = critic(torch.cat([state, action], 1)).squeeze(1)
    with torch.no_grad():
        slow = target(torch.cat([state, action], 1)).squeeze(1)
        goal = reward + 0.1 * (slow - slow.mean())
    loss = F.mse_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def actor_update(actor, critic, optimizer, state, temperature=0.02):
    critic.requires_grad_(False)
    action, log_prob = actor(state)
    loss = (temperature * log_prob - critic(torch.cat([state, action], 1)).squeeze(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    critic.requires_grad_(True)


def main(steps=300):
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(1)
    actor, critic = Actor(), mlp(4, 1)
    target = copy.deepcopy(critic).requires_grad_(False)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=2e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=4e-3)
    for step in range(steps):
        state = torch.rand(64, 2, generator=generator) * 1.6 - 0.8
        with torch.no_grad():
            action, _ = actor(state)
        reward = reward_of(state, action)
        critic_update(critic, target, critic_optimizer, state, action, reward)
        actor_update(actor, critic, actor_optimizer, state)
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), critic.parameters()):
                slow.mul_(0.99).add_(fast, alpha=0.01)
        if step % 100 == 99:
            print(f"step {step} reward {reward.mean().item():.4f}")


main()
