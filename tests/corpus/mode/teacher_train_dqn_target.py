"""Double-network Q-learning on a short corridor."""
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
LENGTH, GAMMA = 6, 0.9


class Corridor:
    def reset(self):
        self.pos = 0
        return self.obs()

    def obs(self):
        return F.one_hot(torch.tensor(self.pos), LENGTH).float()

    def step(self, action):
        self.pos = max(0, min(LENGTH - 1, self.pos + (1 if action == 1 else -1)))
        done = self.pos == LENGTH - 1
        return self.obs(), 1.0 if done else -0.05, done


def q_network():
    return nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))


online = q_network()
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(online.parameters(), lr=5e-3)
memory = deque(maxlen=400)
env, updates = Corridor(), 0

for episode in range(12):
    s, done, t, total = env.reset(), False, 0, 0.0
    while not done and t < 25:
        online.eval()
        with torch.no_grad():
            a = random.randrange(2) if random.random() < 0.3 else online(s).argmax().item()
        online.train()
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, float(done)))
        s, t, total = s2, t + 1, total + r
        if len(memory) < 32:
            continue
        S, A, R, S2, D = zip(*random.sample(memory, 32))
        with torch.no_grad():
            best = target(torch.stack(S2)).max(dim=1).values
            y = torch.tensor(R) + GAMMA * best * (1 - torch.tensor(D))
        q = online(torch.stack(S)).gather(1, torch.tensor(A).unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        updates += 1
        if updates % 20 == 0:
            target.load_state_dict(online.state_dict())
            print(f"update {updates} td {loss.item():.6f}")
    print(f"episode {episode} return {total:.3f}")
