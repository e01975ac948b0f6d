import random
from collections import deque

import torch
import torch.nn as nn


class Pole:
    """A crude balancing task: keep the angle small by pushing left or right."""

    def reset(self):
        self.angle, self.speed, self.t = random.uniform(-0.1, 0.1), 0.0, 0
        return [self.angle, self.speed]

    def step(self, a):
        self.speed = 0.9 * self.speed + 0.05 * self.angle + (0.06 if a else -0.06)
        self.angle += self.speed
        self.t += 1
        fallen = abs(self.angle) > 0.8
        return [self.angle, self.speed], (0.0 if fallen else 1.0), fallen, self.t >= 40


def build():
    return nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 2))


def learn(batch, q, q_target, opt, gamma=0.8):
    s, a, r, s2, terminal = (torch.tensor(c, dtype=torch.float32) for c in zip(*batch))
    with torch.no_grad():
        target = r + gamma * (1 - terminal) * q_target(s2).amax(dim=1)
    value = q(s).gather(1, a.long()[:, None])[:, 0]
    loss = nn.functional.huber_loss(value, target)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    return loss.item()


def main():
    random.seed(1)
    torch.manual_seed(1)
    env, replay = Pole(), deque(maxlen=1000)
    q, q_target = build(), build()
    q_target.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=3e-3)
    steps = 0
    for episode in range(24):
        s, score = env.reset(), 0
        while True:
            with torch.no_grad():
                a = random.randint(0, 1) if random.random() < max(0.1, 1 - steps / 300) else int(q(torch.tensor(s)).argmax())
            s2, r, terminal, timeout = env.step(a)
            replay.append((s, a, r, s2, terminal))
            s, score, steps = s2, score + r, steps + 1
            loss = learn(random.sample(replay, 24), q, q_target, opt) if len(replay) >= 24 else 0.0
            if steps % 25 == 0:
                q_target.load_state_dict(q.state_dict())
            if terminal or timeout:
                break
        if episode % 3 == 0:
            print(f"episode {episode} score {score:.0f} loss {loss:.5f}")


if __name__ == "__main__":
    main()
