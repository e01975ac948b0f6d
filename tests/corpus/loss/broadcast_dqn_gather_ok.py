import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class Corridor:
    """Walk right to the end of an 8-cell corridor; moving left costs time."""

    def __init__(self, size=8, limit=30):
        self.size, self.limit = size, limit

    def observe(self):
        return F.one_hot(torch.tensor(self.pos), self.size).float()

    def reset(self):
        self.pos, self.t = 0, 0
        return self.observe()

    def step(self, action):
        self.t += 1
        self.pos = max(0, min(self.size - 1, self.pos + (1 if action == 1 else -1)))
        done = self.pos == self.size - 1
        return self.observe(), (1.0 if done else -0.05), done, self.t >= self.limit


class QNet(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.fc1 = nn.Linear(n_obs, 32)
        self.fc2 = nn.Linear(32, n_act)

    def forward(self, s):
        return self.fc2(F.relu(self.fc1(s)))


def learn(q, target_q, opt, memory, batch_size, gamma=0.95):
    batch = random.sample(memory, batch_size)
    s, a, r, s2, done = (list(col) for col in zip(*batch))
    s, s2 = torch.stack(s), torch.stack(s2)
    a, r, done = torch.tensor(a), torch.tensor(r), torch.tensor(done, dtype=torch.float32)
    current = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        expected = r + gamma * target_q(s2).max(1).values * (1 - done)
    loss = F.smooth_l1_loss(current, expected)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    env, memory = Corridor(), deque(maxlen=500)
    q, target_q = QNet(8, 2), QNet(8, 2)
    target_q.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=5e-3)
    s, episode_return, returns, losses = env.reset(), 0.0, [], []
    for t in range(160):
        with torch.no_grad():
            a = random.randrange(2) if random.random() < 0.3 else q(s).argmax().item()
        s2, r, done, timeout = env.step(a)
        memory.append((s, a, r, s2, done))
        s, episode_return = s2, episode_return + r
        if done or timeout:
            returns.append(episode_return)
            s, episode_return = env.reset(), 0.0
        if len(memory) >= 40:
            losses.append(learn(q, target_q, opt, memory, 32))
        if t % 10 == 0:
            target_q.load_state_dict(q.state_dict())
        if t % 40 == 39:
            print(f"t {t + 1} last return {returns[-1]:.3f} td loss {sum(losses[-20:]) / len(losses[-20:]):.5f}")


if __name__ == "__main__":
    main()
