import random
from collections import deque

import torch
import torch.nn as nn

N = 8
random.seed(0)
torch.manual_seed(0)


class Corridor:
    def reset(self):
        self.pos, self.t = random.randint(0, N - 2), 0
        return self.pos

    def step(self, a):
        self.pos = max(0, self.pos - 1) if a == 0 else self.pos + 1
        self.t += 1
        done = self.pos == N - 1
        return self.pos, (1.0 if done else -0.02), done, self.t >= 30


def encode(s):
    return torch.nn.functional.one_hot(torch.as_tensor(s), N).float()


q = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
target = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=3e-3)
memory = deque(maxlen=2000)
env, step = Corridor(), 0

for episode in range(60):
    s, ret = env.reset(), 0.0
    eps = max(0.05, 1 - episode / 30)
    while True:
        if random.random() < eps:
            a = random.randrange(2)
        else:
            with torch.no_grad():
                a = q(encode(s)).argmax().item()
        s2, r, terminal, timeout = env.step(a)
        memory.append((s, a, r, s2, float(terminal)))
        s, ret, step = s2, ret + r, step + 1
        if len(memory) >= 64:
            S, A, R, S2, T = map(torch.tensor, zip(*random.sample(memory, 32)))
            with torch.no_grad():
                goal = R + 0.95 * (1 - T) * target(encode(S2)).max(1).values
            value = q(encode(S)).gather(1, A.unsqueeze(1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(value, goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if step % 50 == 0:
            target.load_state_dict(q.state_dict())
        if terminal or timeout:
            break
    if episode % 10 == 9:
        print(f"episode {episode + 1} return {ret:.2f} eps {eps:.2f}")

with torch.no_grad():
    print("greedy policy", q(encode(torch.arange(N))).argmax(1).tolist())
