import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(19)
N = 150
kind = torch.arange(N) % 3
same = (kind[:, None] == kind).float()
pairs = torch.nonzero(torch.rand(N, N).triu(1) > 1 - (0.01 + 0.06 * same).triu(1))
edge = torch.cat([pairs, pairs.flip(1), torch.arange(N)[:, None].repeat(1, 2)]).t()
x = F.one_hot(kind, 3).float() + torch.randn(N, 3)
train = torch.zeros(N, dtype=torch.bool)
train[:45] = True


class MeanConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, x, edge):
        src, dst = edge
        h = self.lin(x)
        out = torch.zeros_like(h).index_add(0, dst, h[src])
        deg = torch.zeros(len(x)).index_add(0, dst, torch.ones(edge.size(1)))
        return out / deg[:, None]


c1, c2 = MeanConv(3, 16), MeanConv(16, 3)
opt = torch.optim.Adam([*c1.parameters(), *c2.parameters()], lr=0.02, weight_decay=5e-4)
for epoch in range(80):
    out = c2(F.relu(c1(x, edge)), edge)
    loss = F.cross_entropy(out[train], kind[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 20 == 0:
        acc = (out.argmax(1) == kind)[~train].float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} held-out acc {acc:.3f}")
