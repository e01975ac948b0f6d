import math

import torch
import torch.nn as nn
from sklearn.datasets import make_moons


class Coupling(nn.Module):
    def __init__(self, flip, h=32):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, 2))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, dim=1)
        log_s = torch.tanh(log_s)
        b = b * log_s.exp() + t
        out = torch.cat([b, a] if self.flip else [a, b], dim=1)
        return out, log_s.squeeze(1)


class Flow(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(i % 2 == 1) for i in range(depth)])

    def log_prob(self, x):
        logdet = x.new_zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        return -0.5 * x.pow(2).sum(1) - math.log(2 * math.pi) + logdet


def batch(n):
    X, _ = make_moons(n, noise=0.08)
    return torch.tensor(X, dtype=torch.float32) - torch.tensor([0.5, 0.25])


def main():
    import numpy as np
    np.random.seed(23)
    torch.manual_seed(23)
    flow = Flow()
    opt = torch.optim.Adam(flow.parameters(), lr=3e-3)
    test = batch(1000)
    for step in range(300):
        loss = -flow.log_prob(batch(128)).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        opt.step()
        if step % 60 == 59:
            with torch.no_grad():
                print(f"step {step + 1} nll {loss.item():.3f} test nll {-flow.log_prob(test).mean().item():.3f}")


if __name__ == "__main__":
    main()
