import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class Corridor:
    """Walk right to reach the goal; walking off the left end ends the episode with a penalty."""

    def __init__(self, size=6):
        self.size = size

    def reset(self):
        self.at = self.size // 2
        return self.observe()

    def observe(self):
        state = torch.zeros(self.size)
        state[min(max(self.at, 0), self.size - 1)] = 1
        return state

    def step(self, action):
        self.at += 1 if action == 1 else -1
        if self.at < 0:
            return self.observe(), -1.0, True
        if self.at >= self.size - 1:
            return self.observe(), 1.0, True
        return self.observe(), 0.0, False


class Agent:
    def __init__(self, size, gamma=0.95):
        self.q = nn.Sequential(nn.Linear(size, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=5e-3)
        self.memory = deque(maxlen=2000)
        self.gamma = gamma

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.q(state).argmax())

    def learn(self, size=32):
        batch = random.sample(self.memory, size)
        states, actions, rewards, nexts, dones = zip(*batch)
        states, nexts = torch.stack(states), torch.stack(nexts)
        actions, rewards = torch.tensor(actions), torch.tensor(rewards)
        dones = torch.tensor(dones, dtype=torch.float32)
        value = self.q(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            following = self.target(nexts).max(dim=1).values
            goal = rewards + self.gamma * (1 - dones) * following
        loss = F.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    env, loss = Corridor(), 0.0
    agent = Agent(env.size)
    for episode in range(1, 151):
        state, done, steps = env.reset(), False, 0
        while not done and steps < 30:
            action = agent.act(state, max(0.1, 1 - episode / 80))
            following, reward, done = env.step(action)
            agent.memory.append((state, action, reward, following, done))
            state, steps = following, steps + 1
            if len(agent.memory) >= 64:
                loss = agent.learn()
        if episode % 5 == 0:
            agent.target.load_state_dict(agent.q.state_dict())
        if episode % 50 == 0:
            with torch.no_grad():
                values = agent.q(torch.eye(env.size)).max(dim=1).values[:-1]
            print(f"episode {episode} loss {loss:.4f} values {[round(v, 2) for v in values.tolist()]}")


if __name__ == "__main__":
    main()
