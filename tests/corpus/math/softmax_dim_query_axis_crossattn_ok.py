from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    width: int = 24
    n_slots: int = 6
    batch: int = 32
    updates: int = 70
    lr: float = 4e-3


class KeyValueReader(nn.Module):
    """Look up the value stored under a key in a small memory."""

    def __init__(self, s):
        super().__init__()
        self.q = nn.Linear(8, s.width)
        self.k = nn.Linear(8, s.width)
        self.v = nn.Linear(4, s.width)
        self.out = nn.Sequential(nn.LayerNorm(s.width), nn.Linear(s.width, 4))
        self.scale = s.width ** 0.5

    def forward(self, queries, keys, values):
        q, k, v = self.q(queries), self.k(keys), self.v(values)
        scores = torch.einsum("bqd,bkd->bqk", q, k) / self.scale
        alpha = scores.softmax(dim=2)
        return self.out(torch.einsum("bqk,bkd->bqd", alpha, v))


def episode(s, codes):
    ids = torch.stack([torch.randperm(len(codes))[:s.n_slots] for _ in range(s.batch)])
    cls = torch.randint(0, 4, (s.batch, s.n_slots))
    ask = torch.stack([torch.randperm(s.n_slots)[:3] for _ in range(s.batch)])
    keys = codes[ids]
    queries = torch.gather(keys, 1, ask.unsqueeze(-1).expand(-1, -1, 8))
    return queries, keys, nn.functional.one_hot(cls, 4).float(), torch.gather(cls, 1, ask)


class Experiment:
    def __init__(self, s):
        torch.manual_seed(31)
        self.s = s
        self.codes = nn.functional.normalize(torch.randn(16, 8), dim=1) * 3
        self.model = KeyValueReader(s)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=s.lr)

    def run(self):
        for u in range(self.s.updates):
            queries, keys, values, answer = episode(self.s, self.codes)
            logits = self.model(queries, keys, values)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), answer.flatten())
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            if u % 10 == 9:
                acc = (logits.argmax(-1) == answer).float().mean().item()
                print(f"update {u + 1:3d} loss {loss.item():.5f} acc {acc:.4f}")


if __name__ == "__main__":
    Experiment(Settings()).run()
