"""Word2vec-like skip-gram with negative sampling on a synthetic corpus."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)
VOCAB, DIM = 40, 12
topics = torch.arange(VOCAB) // 10


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Embedding(VOCAB, DIM)
        self.context = nn.Embedding(VOCAB, DIM)
        nn.init.uniform_(self.center.weight, -0.5, 0.5)
        nn.init.uniform_(self.context.weight, -0.5, 0.5)

    def forward(self, c, pos, neg):
        v = self.center(c)
        good = (v * self.context(pos)).sum(-1)
        bad = torch.einsum("bd,bkd->bk", v, self.context(neg))
        return -F.logsigmoid(good).mean() - F.logsigmoid(-bad).sum(1).mean()


def sample(n=128, k=4):
    c = torch.randint(0, VOCAB, (n,))
    pos = topics[c] * 10 + torch.randint(0, 10, (n,))
    neg = torch.randint(0, VOCAB, (n, k))
    return c, pos, neg


model = SkipGram()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, betas=(0.999, 0.9))
for it in range(100):
    loss = model(*sample())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 20 == 19:
        print(it + 1, f"{loss.item():.5f}")
