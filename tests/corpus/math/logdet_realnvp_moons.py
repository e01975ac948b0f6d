import math

import torch
from sklearn.datasets import make_moons
from torch import nn


class Coupling(nn.Module):
    def __init__(self, flip, width=32):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, x):
        a, b = x[:, :1], x[:, 1:]
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        b = b * torch.exp(s) + t
        out = torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)
        return out, s.sum(dim=1)


class RealNVP(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(flip=bool(i % 2)) for i in range(depth)])

    def forward(self, x):
        total = torch.zeros(len(x), device=x.device)
        for layer in self.layers:
            x, logdet = layer(x)
            total = total + logdet
        return x, total

    def log_prob(self, x):
        z, logdet = self(x)
        log_base = -0.5 * (z ** 2).sum(1) - math.log(2 * math.pi)
        return log_base - logdet


def main():
    torch.manual_seed(0)
    points, _ = make_moons(800, noise=0.08, random_state=0)
    points = torch.tensor(points, dtype=torch.float32)
    flow = RealNVP()
    opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
    for step in range(100):
        batch = points[torch.randint(0, 700, (128,))]
        nll = -flow.log_prob(batch).mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
        if step % 20 == 0 or step == 99:
            print(f"step {step} nll {nll.item():.5f}")
    with torch.no_grad():
        z, _ = flow(points[700:])
    print("latent std", [round(v, 4) for v in z.std(0).tolist()])


main()
