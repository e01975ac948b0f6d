import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class MultiHead(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.dk = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def split(self, x):
        b, t, _ = x.shape
        return x.view(b, t, self.heads, self.dk).transpose(1, 2)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = map(self.split, self.qkv(x).chunk(3, dim=-1))
        att = (q @ k.transpose(-2, -1) / math.sqrt(self.dk)).softmax(-1)
        y = (att @ v).transpose(1, 2).reshape(b, t, d)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.att = MultiHead(dim, heads)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.ff(self.n2(x))


class Tagger(nn.Module):
    """Tags every token with the first token of its sequence."""

    def __init__(self, vocab, length, dim=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(length, dim)
        self.blocks = nn.Sequential(Block(dim, 4), Block(dim, 4))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        pos = torch.arange(ids.size(1), device=ids.device)
        return self.head(self.blocks(self.tok(ids) + self.pos(pos)))


model = Tagger(vocab=8, length=10)
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
for it in range(1, 101):
    ids = torch.randint(0, 8, (32, 10))
    goal = ids[:, :1].expand(-1, 10)
    loss = F.cross_entropy(model(ids).flatten(0, 1), goal.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        print(f"iter {it}: {loss.item():.6f}")
