import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)


class Corridor:
    def reset(self):
        self.x, self.n = 3, 0
        return self.state()

    def state(self):
        return [self.x / 6, self.n / 20]

    def step(self, a):
        self.x += 1 if a else -1
        self.n += 1
        done = self.x in (0, 6) or self.n >= 20
        return self.state(), (1.0 if self.x == 6 else 0.0) - 0.01, done


q = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
target = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 2e-3)
memory = deque(maxlen=2000)
env, gamma, steps = Corridor(), 0.95, 0
for episode in range(60):
    s, total = env.reset(), 0.0
    while True:
        if random.random() < max(0.1, 1 - episode / 40):
            a = random.randrange(2)
        else:
            with torch.no_grad():
                a = q(torch.tensor(s)).argmax().item()
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, float(done)))
        s, total, steps = s2, total + r, steps + 1
        if len(memory) >= 64:
            bs, ba, br, bs2, bd = map(torch.tensor, zip(*random.sample(memory, 32)))
            with torch.no_grad():
                y = br + gamma * target(bs2).max(1).values
            pred = q(bs).gather(1, ba.unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(pred, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if steps % 50 == 0:
            target.load_state_dict(q.state_dict())
        if done:
            break
    if episode % 10 == 0:
        print(episode, total)
