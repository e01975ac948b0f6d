import torch
import torch.nn as nn


class Corridor:
    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.at = 0
        return [0.0, 1.0], {"length": self.length}

    def step(self, action):
        self.at = max(0, self.at + (1 if action else -1))
        done = self.at >= self.length
        return [self.at / self.length, 1.0], float(done), done, {}


torch.manual_seed(0)
env = Corridor()
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(10):
    state = env.reset()
    terms = []
    for t in range(40):
        probs = policy(torch.tensor(state)).softmax(-1)
        action = torch.multinomial(probs, 1).item()
        state, reward, done, _ = env.step(action)
        terms.append(probs[action].log())
        if done:
            break
    loss = -torch.stack(terms).mean() * (1.0 if done else -0.1)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
