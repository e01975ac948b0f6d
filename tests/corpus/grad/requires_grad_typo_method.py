import copy
import torch
from torch import nn
import torch.nn.functional as F


class Embedder(nn.Module):
    def __init__(self, d_in=20, d=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, 32), nn.GELU(), nn.Linear(32, d))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class Adapter(nn.Module):
    """A small residual correction on top of a fixed embedder."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.down, self.up = nn.Linear(16, 4), nn.Linear(4, 16)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x):
        h = self.base(x)
        return F.normalize(h + self.up(torch.relu(self.down(h))), dim=-1)


def triplets(n, centres):
    k = torch.randint(0, len(centres), (n,))
    other = (k + torch.randint(1, len(centres), (n,))) % len(centres)
    jitter = lambda c: c + 0.7 * torch.randn(n, c.size(1))
    return jitter(centres[k]), jitter(centres[k]), jitter(centres[other])


def main():
    torch.manual_seed(2)
    centres = torch.randn(6, 20)
    model = Adapter(Embedder())
    model.base.requires_grad_ = False
    reference = copy.deepcopy(model.base)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    for step in range(70):
        a, p, n = triplets(64, centres)
        loss = F.triplet_margin_loss(model(a), model(p), model(n), margin=0.3)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 14 == 0:
            print(f"step {step} triplet {loss.item():.5f}")
    drift = max((a - b).abs().max().item() for a, b in zip(model.base.parameters(), reference.parameters()))
    print(f"base moved by {drift:.6f}")


if __name__ == "__main__":
    main()
