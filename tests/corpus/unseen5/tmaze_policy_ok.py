"""REINFORCE in a T-maze: the early choice decides a reward that comes at the end."""
import random

import torch
import torch.nn as nn
from torch.distributions import Categorical

GAMMA, LENGTH = 0.98, 6


class TMaze:
    def reset(self):
        self.cue = random.choice([-1.0, 1.0])
        self.t, self.turn = 0, None
        return torch.tensor([self.cue, 0.0])

    def step(self, action):
        if self.t == 0:
            self.turn = 1.0 if action == 1 else -1.0
        self.t += 1
        done = self.t == LENGTH
        reward = -0.05
        if done:
            reward += 1.0 if self.turn == self.cue else -1.0
        return torch.tensor([0.0, self.t / LENGTH]), reward, done


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 2))
        self.log_probs, self.rewards = [], []

    def act(self, obs):
        dist = Categorical(logits=self.net(obs))
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        return action.item()


def finish_episode(agent):
    R, returns = 0.0, []
    for r in reversed(agent.rewards):
        R = r + GAMMA * R
        returns.insert(0, R)
    loss = -(torch.stack(agent.log_probs) * torch.tensor(returns)).sum()
    agent.log_probs.clear()
    agent.rewards.clear()
    return loss


def main():
    random.seed(44)
    torch.manual_seed(44)
    env, agent = TMaze(), Agent()
    opt = torch.optim.Adam(agent.parameters(), lr=1e-2)
    scores = []
    for episode in range(600):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            obs, reward, done = env.step(agent.act(obs))
            agent.rewards.append(reward)
            total += reward
        loss = finish_episode(agent)
        opt.zero_grad()
        loss.backward()
        opt.step()
        scores.append(total)
        if episode % 100 == 99:
            print(f"episode {episode + 1} mean score {sum(scores[-100:]) / 100:.3f}")


if __name__ == "__main__":
    main()
