import torch
from torch import nn

gen = torch.Generator().manual_seed(0)
torch.manual_seed(0)


class Ranker(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(d, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, doc):
        return self.score(doc).squeeze(-1)


def pairwise_loss(better, worse):
    return nn.functional.softplus(worse - better).mean()


docs = torch.randn(400, 10, generator=gen)
quality = docs[:, 0] + 0.5 * docs[:, 1] * docs[:, 2]
ranker = Ranker(10)
opt = torch.optim.RMSprop(ranker.parameters(), lr=3e-3)

for step in range(100):
    i, j = torch.randint(0, 320, (2, 64), generator=gen)
    first = quality[i] > quality[j]
    better, worse = torch.where(first, i, j), torch.where(first, j, i)
    loss = pairwise_loss(ranker(docs[better]), ranker(docs[worse]))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        with torch.no_grad():
            s = ranker(docs[320:])
        q = quality[320:]
        agree = ((s[:, None] > s[None]) == (q[:, None] > q[None])).float().mean()
        print(f"step {step + 1} loss {loss.item():.6f} concordance {agree.item():.4f}")
