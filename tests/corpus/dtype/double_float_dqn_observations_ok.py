import collections
import random

import numpy as np
import torch
import torch.nn as nn


class Corridor:
    """Walk to the right end of a corridor of 8 cells."""

    def reset(self):
        self.pos = 3
        self.t = 0
        return self._obs()

    def _obs(self):
        return np.array([self.pos / 7.0, self.t / 20.0], dtype=np.float32)

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        self.t += 1
        won = self.pos == 7
        done = won or self.pos == 0 or self.t == 20
        return self._obs(), 1.0 if won else 0.0, done


def q_net():
    return nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 2))


def main():
    random.seed(1); torch.manual_seed(1)
    env, q, target = Corridor(), q_net(), q_net()
    target.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=3e-3)
    memory = collections.deque(maxlen=500)
    updates, recent = 0, []
    for episode in range(30):
        s, done = env.reset(), False
        while not done:
            if random.random() < 0.3:
                a = random.randrange(2)
            else:
                with torch.no_grad():
                    a = q(torch.from_numpy(s).unsqueeze(0)).argmax().item()
            s2, r, done = env.step(a)
            memory.append((s, a, r, s2, float(done)))
            s = s2
            if len(memory) < 32:
                continue
            states, actions, rewards, nexts, dones = zip(*random.sample(memory, 32))
            states = torch.from_numpy(np.stack(states))
            nexts = torch.from_numpy(np.stack(nexts))
            actions = torch.tensor(actions).unsqueeze(1)
            rewards, dones = torch.tensor(rewards), torch.tensor(dones)
            with torch.no_grad():
                y = rewards + 0.95 * (1 - dones) * target(nexts).max(1).values
            loss = nn.functional.smooth_l1_loss(q(states).gather(1, actions).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            updates += 1
            recent.append(loss.item())
            if updates % 50 == 0:
                target.load_state_dict(q.state_dict())
                print(f"updates {updates} td-loss {np.mean(recent[-50:]):.6f}")


main()
