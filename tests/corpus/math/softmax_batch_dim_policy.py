import torch
from torch import nn, optim


class GridWorld:
    """Four starts, one goal; a batch of walkers moves at once."""
    MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])

    def __init__(self, n, size=5):
        self.n, self.size = n, size
        self.goal = torch.tensor([size - 1, size - 1])

    def reset(self):
        self.pos = torch.randint(0, self.size - 1, (self.n, 2))
        return self.state()

    def state(self):
        return self.pos.float() / (self.size - 1)

    def step(self, action):
        before = (self.pos - self.goal).abs().sum(1)
        self.pos = (self.pos + self.MOVES[action]).clamp(0, self.size - 1)
        after = (self.pos - self.goal).abs().sum(1)
        return self.state(), (before - after).float() - 0.1


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(2, 32)
        self.l2 = nn.Linear(32, 4)

    def forward(self, s):
        h = torch.relu(self.l1(s))
        return torch.softmax(self.l2(h), dim=0)


torch.manual_seed(2)
env, actor = GridWorld(48), Actor()
optimizer = optim.Adam(actor.parameters(), lr=1e-2)

for update in range(30):
    state = env.reset()
    log_probs, rewards = [], []
    for _ in range(6):
        dist = torch.distributions.Categorical(probs=actor(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward = env.step(action)
        rewards.append(reward)
    returns, running = [], torch.zeros(env.n)
    for r in reversed(rewards):
        running = r + 0.9 * running
        returns.insert(0, running)
    returns = torch.stack(returns)
    advantage = returns - returns.mean(dim=1, keepdim=True)
    loss = -(torch.stack(log_probs) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 6 == 5:
        print(f"update {update + 1} loss {loss.item():.5f} reward {torch.stack(rewards).mean().item():.5f}")
