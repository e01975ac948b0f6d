"""DQN in a corridor of ten cells with a prize at the right end."""
import copy
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class Corridor:
    def __init__(self, length=10):
        self.length = length

    def reset(self):
        self.position, self.time = 0, 0
        return self.observe()

    def observe(self):
        return F.one_hot(torch.tensor(self.position), self.length).float()

    def step(self, action):
        self.position = max(0, self.position + (1 if action == 1 else -1))
        self.time += 1
        won = self.position == self.length - 1
        return self.observe(), 1.0 if won else -0.01, won or self.time >= 40


class QNet(nn.Module):
    def __init__(self, cells, actions=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cells, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, x):
        return self.net(x)


def learn(policy, target, optimizer, memory, gamma=0.95):
    batch = random.sample(memory, 32)
    state, action, reward, after, done = zip(*batch)
    state, after = torch.stack(state), torch.stack(after)
    action, reward = torch.tensor(action), torch.tensor(reward)
    done = torch.tensor(done, dtype=torch.float32)
    q = policy(state).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        goal = reward + gamma * (1 - done) * target(after).max(1).values
    loss = F.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(episodes=40):
    random.seed(0)
    torch.manual_seed(0)
    env = Corridor()
    policy = QNet(env.length)
    target = copy.deepcopy(policy)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    memory = deque(maxlen=2000)
    steps = 0
    for episode in range(episodes):
        state, done, total = env.reset(), False, 0.0
        epsilon = max(0.05, 1 - episode / 25)
        while not done:
            with torch.no_grad():
                greedy = policy(state).argmax().item()
            action = random.randrange(2) if random.random() < epsilon else greedy
            after, reward, done = env.step(action)
            memory.append((state, action, reward, after, done))
            state, total, steps = after, total + reward, steps + 1
            if len(memory) >= 64:
                learn(policy, target, optimizer, memory)
            if steps % 50 == 0:
                target.load_state_dict(policy.state_dict())
        if episode % 10 == 9:
            print(f"episode {episode} return {total:.2f} q {policy(state).max().item():.2f}")


main()
