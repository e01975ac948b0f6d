"""TD(0) value estimation for a ferry drifting between two docks."""
import numpy as np
import torch
import torch.nn as nn

N = 7  # positions 1..5 are on the water, 0 and 6 are docks


class Ferry:
    def __init__(self, rng):
        self.rng = rng
        self.pos = 3

    def step(self):
        prev = self.pos
        self.pos += 1 if self.rng.random() < 0.5 else -1
        done = self.pos in (0, N - 1)
        reward = 1.0 if self.pos == N - 1 else 0.0
        if done:
            self.pos = 3
        return prev, reward, self.pos, done


def one_hot(idx):
    return torch.nn.functional.one_hot(torch.as_tensor(idx), N).float()


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(N, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, s):
        return self.net(one_hot(s)).squeeze(-1)


def main():
    rng = np.random.default_rng(31)
    torch.manual_seed(31)
    env, critic, target = Ferry(rng), Critic(), Critic()
    target.load_state_dict(critic.state_dict())
    data = [env.step() for _ in range(3000)]
    s, r, s2, done = (np.array(c) for c in zip(*data))
    s, s2 = torch.from_numpy(s), torch.from_numpy(s2)
    r, done = torch.tensor(r, dtype=torch.float32), torch.tensor(done, dtype=torch.float32)
    opt = torch.optim.Adam(critic.parameters(), lr=5e-3)
    gamma = 0.99
    for it in range(1200):
        idx = torch.randint(0, len(s), (64,))
        with torch.no_grad():
            backup = r[idx] + gamma * (1 - done[idx]) * target(s2[idx])
        loss = nn.functional.mse_loss(critic(s[idx]), backup)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 20 == 0:
            target.load_state_dict(critic.state_dict())
        if it % 300 == 0:
            print(f"it {it} td loss {loss.item():.4f}")
    with torch.no_grad():
        v = critic(torch.arange(1, N - 1))
    print("values", [round(t, 3) for t in v.tolist()])
    print("expected about", [round(i / 6, 3) for i in range(1, 6)])


if __name__ == "__main__":
    main()
