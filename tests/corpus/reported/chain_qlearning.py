import copy

import torch
from torch import nn


class Chain:
    """Random transitions of a small Markov chain for offline Q-learning."""

    def __init__(self, states=8, actions=3, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.next_state = torch.randint(states, (states, actions), generator=g)
        self.reward = torch.randn(states, actions, generator=g)
        self.states, self.actions = states, actions

    def sample(self, n):
        s = torch.randint(self.states, (n,))
        a = torch.randint(self.actions, (n,))
        return s, a, self.reward[s, a], self.next_state[s, a]

    def optimal(self, gamma):
        q = torch.zeros(self.states, self.actions)
        for _ in range(500):
            q = self.reward + gamma * q.max(dim=1).values[self.next_state]
        return q


class QLearner:
    def __init__(self, chain, gamma=0.9, sync_every=8):
        self.chain, self.gamma, self.sync_every = chain, gamma, sync_every
        self.online = nn.Sequential(nn.Linear(chain.states, 48), nn.ReLU(), nn.Linear(48, chain.actions))
        self.target = self.online
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=5e-3)
        self.updates = 0

    def encode(self, s):
        return nn.functional.one_hot(s, self.chain.states).float()

    def update(self, batch):
        s, a, r, s2 = batch
        with torch.no_grad():
            bootstrap = r + self.gamma * self.target(self.encode(s2)).max(dim=1).values
        q = self.online(self.encode(s)).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = nn.functional.mse_loss(q, bootstrap)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()

    @torch.no_grad()
    def table(self):
        return self.online(torch.eye(self.chain.states))


def main():
    torch.manual_seed(0)
    chain = Chain()
    learner = QLearner(chain)
    reference = chain.optimal(learner.gamma)
    for step in range(1, 901):
        loss = learner.update(chain.sample(64))
        if step % 300 == 0:
            error = (learner.table() - reference).abs().mean().item()
            print(f"step {step} loss {loss:.4f} mean error of Q {error:.3f}")


if __name__ == "__main__":
    main()
