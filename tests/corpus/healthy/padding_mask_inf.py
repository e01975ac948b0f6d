import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
PAD, V, D = 0, 20, 32


class PooledAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, D, padding_idx=PAD)
        self.query = nn.Parameter(torch.randn(D) / math.sqrt(D))
        self.out = nn.Linear(D, 2)

    def forward(self, ids):
        x = self.embed(ids)
        score = (x @ self.query) / math.sqrt(D)
        score = score.masked_fill(ids == PAD, float("-inf"))
        weight = score.softmax(dim=1)
        return self.out((weight.unsqueeze(-1) * x).sum(1))


def batch(n=64, longest=12):
    lengths = torch.randint(2, longest + 1, (n,))
    ids = torch.randint(1, V, (n, longest))
    ids = ids.masked_fill(torch.arange(longest) >= lengths.unsqueeze(1), PAD)
    return ids, (ids == 7).any(dim=1).long()


model = PooledAttention()
opt = torch.optim.Adam(model.parameters(), lr=3e-2)
for step in range(80):
    ids, y = batch()
    loss = F.cross_entropy(model(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 16 == 0:
        print(f"step {step} loss {loss.item():.5f}")
