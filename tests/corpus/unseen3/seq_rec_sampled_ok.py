import torch
from torch import nn

torch.manual_seed(24)
ITEMS = 50


class NextItem(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.item = nn.Embedding(ITEMS + 1, d, padding_idx=0)
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, hist):
        out, _ = self.rnn(self.item(hist))
        return out

    def score(self, h, items):
        return (h.unsqueeze(-2) * self.item(items)).sum(-1)


def sessions(n, length=9):
    start = torch.randint(0, ITEMS, (n, 1))
    jump = torch.randint(1, 3, (n, 1))
    ids = (start + jump * torch.arange(length)) % ITEMS + 1
    cut = torch.randint(4, length + 1, (n, 1))
    return ids.masked_fill(torch.arange(length) >= cut, 0)


model = NextItem()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(200):
    s = sessions(64)
    hist, nxt = s[:, :-1], s[:, 1:]
    neg = torch.randint(1, ITEMS + 1, (*nxt.shape, 10))
    h = model(hist)
    logits = model.score(h, torch.cat([nxt.unsqueeze(-1), neg], -1))
    collide = neg == nxt.unsqueeze(-1)
    logits[..., 1:] = logits[..., 1:].masked_fill(collide, -1e9)
    valid = nxt > 0
    loss = nn.functional.cross_entropy(logits[valid], torch.zeros(int(valid.sum()), dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    full = sessions(300)
    h = model(full[:, :3])[:, -1]
    rank = (h @ model.item.weight[1:].t()).topk(5, dim=1).indices + 1
print("hit@5", (rank == full[:, 3:4]).any(1).float().mean().item())
