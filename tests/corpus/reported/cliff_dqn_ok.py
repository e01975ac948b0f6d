"""DQN on a short corridor with a goal at the right end and a pit at the left end."""
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

CELLS, GAMMA = 7, 0.95


class Corridor:
    def reset(self):
        self.cell = CELLS // 2
        return self.observe()

    def observe(self):
        return F.one_hot(torch.tensor(self.cell), CELLS).float()

    def step(self, action):
        self.cell += 1 if action == 1 else -1
        done = self.cell in (0, CELLS - 1)
        reward = {0: -1.0, CELLS - 1: 1.0}.get(self.cell, -0.05)
        return self.observe(), reward, done


def network():
    return nn.Sequential(nn.Linear(CELLS, 32), nn.ReLU(), nn.Linear(32, 2))


def update(net, target_net, optimizer, memory):
    batch = random.sample(memory, 32)
    state, action, reward, next_state, done = zip(*batch)
    state, next_state = torch.stack(state), torch.stack(next_state)
    action = torch.tensor(action)
    reward = torch.tensor(reward)
    done = torch.tensor(done, dtype=torch.float32)
    value = net(state).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = reward + GAMMA * (1 - done) * target_net(next_state).max(dim=1).values
    loss = F.smooth_l1_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(60)
    random.seed(60)
    env, memory = Corridor(), deque(maxlen=2000)
    net, target_net = network(), network()
    target_net.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    steps, loss = 0, 0.0
    for episode in range(120):
        state, done, total = env.reset(), False, 0.0
        epsilon = max(0.1, 1 - episode / 60)
        for _ in range(40):
            if random.random() < epsilon:
                action = random.randrange(2)
            else:
                with torch.no_grad():
                    action = int(net(state).argmax())
            next_state, reward, done = env.step(action)
            memory.append((state, action, reward, next_state, done))
            state, total, steps = next_state, total + reward, steps + 1
            if len(memory) >= 64:
                loss = update(net, target_net, optimizer, memory)
            if steps % 50 == 0:
                target_net.load_state_dict(net.state_dict())
            if done:
                break
        if episode % 30 == 29:
            with torch.no_grad():
                values = net(torch.eye(CELLS)).max(dim=1).values
            print(f"episode {episode + 1} return {total:.2f} loss {loss:.4f} largest value {values.max().item():.2f}")


if __name__ == "__main__":
    main()
