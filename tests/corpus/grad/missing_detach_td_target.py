import torch
import torch.nn as nn


class ValueNet(nn.Module):
    def __init__(self, n_states):
        super().__init__()
        self.table = nn.Embedding(n_states, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, s):
        return self.out(torch.tanh(self.table(s))).squeeze(-1)


class RandomWalk:
    """Classic 7-state random walk: reward 1 on leaving at the right end."""

    n_states = 7

    def transitions(self, n, gen):
        s = torch.randint(0, self.n_states, (n,), generator=gen)
        move = torch.randint(0, 2, (n,), generator=gen) * 2 - 1
        nxt = s + move
        done = (nxt < 0) | (nxt >= self.n_states)
        reward = (nxt >= self.n_states).float()
        return s, reward, nxt.clamp(0, self.n_states - 1), done.float()


def td_learning(updates=100, gamma=1.0, lr=1e-2, seed=1):
    torch.manual_seed(seed)
    gen = torch.Generator().manual_seed(seed)
    env = RandomWalk()
    net = ValueNet(env.n_states)
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for u in range(updates):
        s, r, s_next, done = env.transitions(64, gen)
        td_target = r + gamma * net(s_next) * (1 - done)
        loss = nn.functional.mse_loss(net(s), td_target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if u % 20 == 0:
            print(f"update {u:3d} td error {loss.item():.6f}")
    with torch.no_grad():
        print("values", [round(v, 3) for v in net(torch.arange(env.n_states)).tolist()])


td_learning()
