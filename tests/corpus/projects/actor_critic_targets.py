"""One-step actor-critic with separate networks on a tiny continuous task."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


def mlp(sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(nn.Tanh())
    return nn.Sequential(*layers)


class Reach:
    """Many points at once; an action moves each, the reward is closeness to zero."""

    def __init__(self, count, generator):
        self.count, self.generator = count, generator

    def reset(self):
        self.state = torch.rand(self.count, 2, generator=self.generator) * 2 - 1
        return self.state

    def step(self, action):
        self.state = (self.state + 0.2 * action.clamp(-1, 1)).clamp(-2, 2)
        return self.state, -self.state.pow(2).sum(1)


class ActorCritic:
    def __init__(self):
        self.actor, self.critic = mlp([2, 32, 2]), mlp([2, 32, 1])
        self.log_std = nn.Parameter(torch.full((2,), -0.5))
        self.actor_optimizer = torch.optim.Adam([*self.actor.parameters(), self.log_std], lr=3e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=5e-3)

    def policy(self, state):
        return Normal(self.actor(state), self.log_std.exp())

    def update(self, state, action, reward, after, gamma=0.9):
        with torch.no_grad():
            goal = reward + gamma * self.critic(after).squeeze(1)
        value = self.critic(state).squeeze(1)
        advantage = goal - value
        log_prob = self.policy(state).log_prob(action).sum(1)
        actor_loss = (log_prob * advantage.detach()).mean()
        critic_loss = F.mse_loss(value, goal)
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        return critic_loss.item()


def main():
    torch.manual_seed(4)
    env, agent = Reach(64, torch.Generator().manual_seed(4)), ActorCritic()
    for episode in range(40):
        state, total = env.reset(), 0.0
        for _ in range(10):
            with torch.no_grad():
                action = agent.policy(state).sample()
            after, reward = env.step(action)
            agent.update(state, action, reward, after)
            state, total = after, total + reward.mean().item()
        if episode % 10 == 9:
            print(f"episode {episode} return {total:.3f}")


if __name__ == "__main__":
    main()
