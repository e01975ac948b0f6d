from dataclasses import dataclass
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Args:
    dim: int = 16
    steps: int = 80
    batch: int = 48
    lr: float = 5e-3
    init_temperature: float = 0.2


class PairMatcher(nn.Module):
    """CLIP-like matching of two modalities with a learnable temperature."""

    def __init__(self, args):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, args.dim))
        self.right = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, args.dim))
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / args.init_temperature)))

    def forward(self, a, b):
        a = F.normalize(self.left(a), dim=-1)
        b = F.normalize(self.right(b), dim=-1)
        return a @ b.t() * self.logit_scale.exp()


def run(args):
    torch.manual_seed(0)
    wa, wb = torch.randn(5, 10), torch.randn(5, 14)
    model = PairMatcher(args)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    labels = torch.arange(args.batch)
    for step in range(args.steps):
        z = torch.randn(args.batch, 5)
        logits = model(torch.tanh(z @ wa), torch.tanh(z @ wb))
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 16 == 0:
            print(f"{step:3d} | {loss.item():.5f}")


if __name__ == "__main__":
    run(Args())
