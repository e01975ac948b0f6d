import random
from collections import deque
import torch
import torch.nn as nn

random.seed(7)
torch.manual_seed(7)
SIZE = 4


def to_state(r, c):
    v = torch.zeros(SIZE * SIZE)
    v[r * SIZE + c] = 1
    return v


def move(r, c, a):
    dr, dc = [(-1, 0), (1, 0), (0, -1), (0, 1)][a]
    r, c = min(max(r + dr, 0), SIZE - 1), min(max(c + dc, 0), SIZE - 1)
    done = (r, c) == (SIZE - 1, SIZE - 1)
    return r, c, (1.0 if done else -0.05), done


online = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4))
target = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4)).requires_grad_(False)
target.load_state_dict(online.state_dict())
opt = torch.optim.Adam(online.parameters(), lr=3e-3)
buffer = deque(maxlen=2000)
for episode in range(60):
    r = c = steps = 0
    done = False
    total = 0.0
    while not done and steps < 40:
        s = to_state(r, c)
        if random.random() < max(0.05, 1 - episode / 40):
            a = random.randrange(4)
        else:
            with torch.no_grad():
                a = online(s).argmax().item()
        r, c, reward, done = move(r, c, a)
        buffer.append((s, a, reward, to_state(r, c), float(done)))
        total += reward
        steps += 1
        if len(buffer) >= 64:
            s_, a_, r_, n_, d_ = zip(*random.sample(buffer, 32))
            s_, n_ = torch.stack(s_), torch.stack(n_)
            a_, r_, d_ = torch.tensor(a_), torch.tensor(r_), torch.tensor(d_)
            best = online(n_).argmax(1, keepdim=True)
            goal = r_ + 0.95 * (1 - d_) * target(n_).gather(1, best).squeeze(1)
            loss = nn.functional.smooth_l1_loss(online(s_).gather(1, a_[:, None]).squeeze(1), goal.detach())
            opt.zero_grad()
            loss.backward()
            opt.step()
            for p, q in zip(target.parameters(), online.parameters()):
                p.data.lerp_(q.data, 0.02)
    if episode % 15 == 14:
        print(f"episode {episode + 1} return {total:.2f} steps {steps}")
