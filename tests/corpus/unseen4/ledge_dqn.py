import random
from collections import deque
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(9)
np.random.seed(9)
torch.manual_seed(9)
N, GAMMA = 8, 0.95


def encode(pos):
    return np.eye(N, dtype=np.float32)[pos]


def env_step(pos, action):
    pos = max(0, min(N - 1, pos + (1 if action == 1 else -1)))
    if pos == N - 1:
        return pos, 1.0, True
    if pos == 0:
        return pos, -1.0, True
    return pos, 0.0, False


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        return self.layers(x)


policy_net, target_net = QNet(), QNet()
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.Adam(policy_net.parameters(), lr=3e-3)
memory = deque(maxlen=3000)


def optimize(batch_size=32):
    s, a, r, s2, done = zip(*random.sample(memory, batch_size))
    s, s2 = torch.tensor(np.array(s)), torch.tensor(np.array(s2))
    a, r = torch.tensor(a), torch.tensor(r)
    done = torch.tensor(done, dtype=torch.float32)
    q = policy_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        next_q = target_net(s2).max(1).values
    target = r + GAMMA * next_q
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


steps = 0
for episode in range(200):
    pos, done, n = random.randint(1, N - 2), False, 0
    while not done and n < 40:
        eps = max(0.05, 1.0 - episode / 120)
        if random.random() < eps:
            act = random.randint(0, 1)
        else:
            with torch.no_grad():
                act = policy_net(torch.tensor(encode(pos))).argmax().item()
        nxt, reward, done = env_step(pos, act)
        memory.append((encode(pos), act, reward, encode(nxt), done))
        pos, n, steps = nxt, n + 1, steps + 1
        if len(memory) > 64:
            loss = optimize()
        if steps % 50 == 0:
            target_net.load_state_dict(policy_net.state_dict())
    if episode % 40 == 39:
        with torch.no_grad():
            best = policy_net(torch.eye(N)).max(1).values
        print(f"episode {episode + 1}: loss {loss:.4f} values {[round(v, 2) for v in best.tolist()]}")
