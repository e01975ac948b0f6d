import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)
LENGTH = 8


class Corridor:
    """Exit on the left pays 1, exit on the right pays 0.2."""

    def reset(self):
        self.pos = random.randrange(1, LENGTH - 1)
        return self.obs()

    def obs(self):
        v = np.zeros(LENGTH, dtype=np.float32)
        v[self.pos] = 1.0
        return v

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        done = self.pos in (0, LENGTH - 1)
        reward = 1.0 if self.pos == 0 else (0.2 if self.pos == LENGTH - 1 else 0.0)
        return self.obs(), reward, done


q = nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Linear(32, 2))
q_target = nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Linear(32, 2))
q_target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=2e-3)
memory = deque(maxlen=2000)
env, gamma, step = Corridor(), 0.9, 0

for episode in range(150):
    s, done, t = env.reset(), False, 0
    while not done and t < 40:
        eps = max(0.1, 1.0 - episode / 80)
        if random.random() < eps:
            a = random.randrange(2)
        else:
            with torch.no_grad():
                a = q(torch.from_numpy(s)).argmax().item()
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, float(done)))
        s, t, step = s2, t + 1, step + 1
        if len(memory) >= 64:
            S, A, R, S2, D = zip(*random.sample(memory, 32))
            S, S2 = torch.from_numpy(np.stack(S)), torch.from_numpy(np.stack(S2))
            A, R, D = torch.tensor(A), torch.tensor(R), torch.tensor(D)
            with torch.no_grad():
                target = R + gamma * (1 - D) * q_target(S2).max(1).values
            pred = q(S).gather(1, A.unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(pred, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 25 == 0:
                q_target.load_state_dict(q.state_dict())
    if (episode + 1) % 30 == 0:
        print(f"episode {episode + 1} loss {loss.item():.4f}")

with torch.no_grad():
    print("state values:", [round(v, 2) for v in q(torch.eye(LENGTH)).max(1).values.tolist()[1:-1]])
