import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.optim as optim

random.seed(0)
torch.manual_seed(0)
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
GAMMA, TAU, BATCH = 0.9, 0.05, 32


class Maze:
    """A 4 x 4 grid; start top left, goal bottom right, one pit."""

    moves = [(0, 1), (1, 0), (0, -1), (-1, 0)]

    def reset(self):
        self.p, self.t = (0, 0), 0
        return self.state()

    def state(self):
        s = torch.zeros(1, 16)
        s[0, self.p[0] * 4 + self.p[1]] = 1
        return s

    def step(self, a):
        dr, dc = self.moves[a]
        self.p = (min(max(self.p[0] + dr, 0), 3), min(max(self.p[1] + dc, 0), 3))
        self.t += 1
        if self.p == (3, 3):
            return 1.0, True, False
        if self.p == (1, 2):
            return -1.0, True, False
        return -0.02, False, self.t >= 30


def make():
    return nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4))


policy_net, target_net = make(), make()
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=3e-3, amsgrad=True)
memory = deque([], maxlen=1500)
steps_done = 0


def optimize_model():
    if len(memory) < BATCH:
        return
    batch = Transition(*zip(*random.sample(memory, BATCH)))
    non_final_mask = torch.tensor([s is not None for s in batch.next_state])
    non_final = torch.cat([s for s in batch.next_state if s is not None])
    q = policy_net(torch.cat(batch.state)).gather(1, torch.tensor(batch.action).view(-1, 1))
    nxt = torch.zeros(BATCH)
    with torch.no_grad():
        nxt[non_final_mask] = target_net(non_final).max(1).values
    expected = nxt * GAMMA + torch.tensor(batch.reward)
    loss = nn.SmoothL1Loss()(q, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    sd, tsd = policy_net.state_dict(), target_net.state_dict()
    target_net.load_state_dict({k: sd[k] * TAU + tsd[k] * (1 - TAU) for k in sd})


env, results = Maze(), []
for episode in range(60):
    state, total = env.reset(), 0.0
    while True:
        eps = 0.05 + 0.95 * math.exp(-steps_done / 150)
        steps_done += 1
        with torch.no_grad():
            action = random.randrange(4) if random.random() < eps else policy_net(state).argmax(1).item()
        reward, terminated, truncated = env.step(action)
        nxt = None if terminated else env.state()
        memory.append(Transition(state, action, nxt, reward))
        state, total = nxt, total + reward
        optimize_model()
        if terminated or truncated:
            break
    results.append(total)
    if episode % 15 == 14:
        print(f"episode {episode + 1} mean return {sum(results[-15:]) / 15:.3f}")
