from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Conf:
    vocab: int = 12
    dim: int = 32
    layers: int = 3
    seq: int = 8
    steps: int = 60


class Encoder(nn.Module):
    def __init__(self, c: Conf):
        super().__init__()
        self.tok = nn.Embedding(c.vocab, c.dim)
        self.pos = nn.Parameter(0.02 * torch.randn(c.seq, c.dim))
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(c.dim, 4, 2 * c.dim, dropout=0.0, batch_first=True, norm_first=True)]
            * c.layers)
        self.norm = nn.LayerNorm(c.dim)
        self.out = nn.Linear(c.dim, c.vocab)

    def forward(self, ids):
        h = self.tok(ids) + self.pos
        for layer in self.layers:
            h = layer(h)
        return self.out(self.norm(h))


def reverse_task(c, n, gen):
    ids = torch.randint(0, c.vocab, (n, c.seq), generator=gen)
    return ids, ids.flip(1)


if __name__ == "__main__":
    c = Conf()
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    model = Encoder(c)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(c.steps):
        ids, goal = reverse_task(c, 32, gen)
        loss = F.cross_entropy(model(ids).transpose(1, 2), goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 15 == 14:
            print(f"step {step + 1} loss {loss.item():.6f}")
