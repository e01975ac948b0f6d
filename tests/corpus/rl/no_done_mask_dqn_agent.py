import random
from collections import deque, namedtuple

import torch
import torch.nn.functional as F
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state done")


class Cliff:
    """A 3x5 board: reach the right corner, do not fall off the lower edge."""

    def reset(self):
        self.r, self.c, self.t = 1, 0, 0
        return self._obs()

    def _obs(self):
        return torch.tensor([self.r / 2, self.c / 4])

    def step(self, a):
        self.t += 1
        self.r += (a == 0) - (a == 1)
        self.c = min(4, max(0, self.c + (a == 2) - (a == 3)))
        if self.r < 0:
            self.r = 0
            return self._obs(), -1.0, True
        self.r = min(2, self.r)
        goal = self.c == 4
        return self._obs(), (1.0 if goal else -0.02), goal


class Agent:
    def __init__(self, gamma=0.97, lr=3e-3, batch_size=32):
        self.gamma, self.batch_size = gamma, batch_size
        self.q = self.build()
        self.q_target = self.build()
        self.sync()
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.memory = deque(maxlen=1000)

    @staticmethod
    def build():
        return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 4))

    def sync(self):
        self.q_target.load_state_dict(self.q.state_dict())

    @torch.no_grad()
    def act(self, state, eps):
        return random.randrange(4) if random.random() < eps else int(self.q(state).argmax())

    def learn(self):
        batch = Transition(*zip(*random.sample(self.memory, self.batch_size)))
        states, next_states = torch.stack(batch.state), torch.stack(batch.next_state)
        actions, rewards = torch.tensor(batch.action), torch.tensor(batch.reward)
        dones = torch.tensor(batch.done, dtype=torch.float32)
        q_value = self.q(states).gather(1, actions[:, None]).squeeze(1)
        with torch.no_grad():
            next_q = self.q_target(next_states).max(dim=1).values
            target = rewards + self.gamma * next_q
        loss = F.mse_loss(q_value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), q_value.max().item()


random.seed(1)
torch.manual_seed(1)
env, agent = Cliff(), Agent()
state = env.reset()
for step in range(1, 161):
    action = agent.act(state, eps=0.4)
    next_state, reward, done = env.step(action)
    agent.memory.append(Transition(state, action, reward, next_state, done))
    state = env.reset() if done or env.t > 25 else next_state
    if step > 48:
        loss, top = agent.learn()
    if step % 12 == 0:
        agent.sync()
    if step > 48 and step % 28 == 0:
        print(f"step {step} loss {loss:.5f} max q {top:.4f}")
