"""A DQN agent that looks for the corner of a small grid."""
import copy
import random

import torch
from torch import nn


class Grid:
    moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def __init__(self, size=4):
        self.size = size

    def reset(self):
        self.at = (0, 0)
        self.left = 30
        return self.encode()

    def encode(self):
        return torch.tensor([self.at[0], self.at[1]], dtype=torch.float32) / (self.size - 1)

    def step(self, action):
        move = self.moves[action]
        self.at = tuple(min(self.size - 1, max(0, p + m)) for p, m in zip(self.at, move))
        self.left -= 1
        goal = self.at == (self.size - 1, self.size - 1)
        return self.encode(), float(goal), goal, goal or self.left == 0


class Agent:
    def __init__(self, lr=2e-3, gamma=0.9, sync_every=100):
        self.online = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 4))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.gamma, self.sync_every, self.updates = gamma, sync_every, 0
        self.memory = []

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        with torch.no_grad():
            return self.online(state).argmax().item()

    def update(self, size=32):
        rows = random.sample(self.memory, size)
        states, actions, rewards, nexts, ends = map(torch.stack, zip(*rows))
        with torch.no_grad():
            best = self.target(nexts).max(dim=1).values
        goal = rewards + self.gamma * best * (1 - ends)
        predicted = self.online(states).gather(1, actions.view(-1, 1)).squeeze(1)
        loss = nn.functional.mse_loss(predicted, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.target.load_state_dict(self.online.state_dict())


def play(episodes=50):
    env, agent, wins = Grid(), Agent(), []
    for episode in range(episodes):
        state, done = env.reset(), False
        while not done:
            action = agent.act(state, max(0.1, 1 - episode / 30))
            after, reward, goal, done = env.step(action)
            agent.memory.append(
                (state, torch.tensor(action), torch.tensor(reward), after, torch.tensor(float(goal)))
            )
            state = after
            if len(agent.memory) > 64:
                agent.update()
        wins.append(goal)
    print(f"won {sum(wins[-15:])} of the last 15 after {agent.updates} updates")


if __name__ == "__main__":
    random.seed(1)
    torch.manual_seed(1)
    play()
