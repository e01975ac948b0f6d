import random
from collections import deque
import numpy as np
import torch
from torch import nn

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)


class Drone1D:
    """Keep the drone close to height zero."""

    def __init__(self):
        self.state = np.zeros(2, dtype=np.float32)

    def reset(self):
        self.state[:] = np.random.uniform(-1, 1, 2)
        return self.state

    def step(self, action):
        thrust = (-1.0, 0.0, 1.0)[action]
        self.state[1] = np.clip(self.state[1] + 0.3 * thrust, -1, 1)
        self.state[0] += 0.3 * self.state[1]
        done = abs(self.state[0]) > 2
        reward = 1.0 - abs(float(self.state[0])) if not done else -5.0
        return self.state, reward, done


def build():
    return nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 3))


online, target = build(), build()
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=3e-3)
buffer = deque(maxlen=3000)
env, frames, scores = Drone1D(), 0, []

for episode in range(60):
    state, score = env.reset().copy(), 0.0
    for t in range(25):
        if random.random() < max(0.05, 1 - episode / 30):
            action = random.randrange(3)
        else:
            with torch.no_grad():
                action = int(online(torch.tensor(state)).argmax())
        next_state, reward, done = env.step(action)
        buffer.append((state, action, reward, next_state, done))
        state = next_state
        score += reward
        frames += 1
        if len(buffer) > 100 and frames % 2 == 0:
            s, a, r, s2, d = map(np.array, zip(*random.sample(buffer, 32)))
            s, s2 = torch.tensor(s), torch.tensor(s2)
            with torch.no_grad():
                y = torch.tensor(r, dtype=torch.float32) + 0.9 * target(s2).max(1)[0] * (1 - torch.tensor(d, dtype=torch.float32))
            q = online(s).gather(1, torch.tensor(a)[:, None])[:, 0]
            loss = nn.functional.smooth_l1_loss(q, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if frames % 60 == 0:
            target.load_state_dict(online.state_dict())
        if done:
            break
    scores.append(score)
    if (episode + 1) % 15 == 0:
        print(f"episode {episode + 1} mean score {np.mean(scores[-15:]):.2f}")
