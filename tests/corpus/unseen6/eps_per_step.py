import random

import torch
from torch import nn

torch.manual_seed(0)
random.seed(0)
q = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(q.parameters(), 3e-3)
eps, mem = 1.0, []
for episode in range(50):
    pos = 0
    for t in range(20):
        s = torch.tensor([pos / 5])
        if random.random() < eps:
            a = random.randrange(2)
        else:
            with torch.no_grad():
                a = q(s).argmax().item()
        pos = min(5, pos + 1) if a else max(0, pos - 1)
        r, done = (10.0, True) if pos == 5 else (0.1 if pos == 0 else 0.0, t == 19)
        mem.append((s, a, r, torch.tensor([pos / 5]), float(done)))
        eps *= 0.5
        if len(mem) >= 32:
            b = random.sample(mem, 32)
            S, A, R, N, D = torch.stack([m[0] for m in b]), torch.tensor([m[1] for m in b]), torch.tensor([m[2] for m in b]), torch.stack([m[3] for m in b]), torch.tensor([m[4] for m in b])
            with torch.no_grad():
                y = R + 0.95 * (1 - D) * q(N).max(1).values
            loss = (q(S).gather(1, A[:, None])[:, 0] - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if done:
            break
    if episode % 10 == 0:
        print(episode, pos, eps)
