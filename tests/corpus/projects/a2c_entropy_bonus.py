"""A2C on a memoryless signal task with eight parallel environments."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class Args:
    num_envs: int = 8
    num_steps: int = 16
    updates: int = 80
    learning_rate: float = 2e-3
    gamma: float = 0.9
    ent_coef: float = 0.05
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


class SignalEnv:
    def __init__(self, args, generator):
        self.args, self.generator = args, generator
        self.table = torch.randperm(4, generator=generator)
        self.state = self.draw()

    def draw(self):
        return torch.randint(0, 4, (self.args.num_envs,), generator=self.generator)

    def step(self, action):
        reward = (action == self.table[self.state]).float()
        self.state = self.draw()
        return self.state, reward


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Embedding(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.actor = nn.Linear(32, 4)
        self.critic = nn.Linear(32, 1)

    def forward(self, state):
        hidden = self.trunk(state)
        return Categorical(logits=self.actor(hidden)), self.critic(hidden).squeeze(-1)


def collect(env, agent, args):
    state, rows = env.state, []
    for _ in range(args.num_steps):
        dist, value = agent(state)
        action = dist.sample()
        after, reward = env.step(action)
        rows.append((dist.log_prob(action), value, dist.entropy(), reward))
        state = after
    log_probs, values, entropies, rewards = (torch.stack(column) for column in zip(*rows))
    with torch.no_grad():
        running = agent(state)[1]
        returns = torch.zeros_like(rewards)
        for t in reversed(range(args.num_steps)):
            running = rewards[t] + args.gamma * running
            returns[t] = running
    return log_probs, values, entropies, rewards, returns


def main(args):
    torch.manual_seed(10)
    env, agent = SignalEnv(args, torch.Generator().manual_seed(10)), Agent()
    optimizer = torch.optim.RMSprop(agent.parameters(), lr=args.learning_rate)
    for update in range(args.updates):
        log_probs, values, entropies, rewards, returns = collect(env, agent, args)
        advantages = returns - values
        policy_loss = -(log_probs * advantages).mean()
        value_loss = (returns - values).pow(2).mean()
        loss = policy_loss + args.vf_coef * value_loss - args.ent_coef * entropies.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
        optimizer.step()
        if update % 20 == 19:
            print(f"update {update} reward {rewards.mean():.3f} entropy {entropies.mean():.3f}")


main(Args())
