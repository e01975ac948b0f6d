import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)


def visit_history(n):
    """Patients with 3 to 10 visits of 5 measurements; risk follows the worst visit."""
    out = []
    for _ in range(n):
        visits = torch.randn(int(torch.randint(3, 11, (1,))), 5)
        out.append((visits, visits[:, 0].max() + 0.3 * visits[:, 1].mean()))
    return out


def collate(batch):
    lengths = torch.tensor([len(v) for v, _ in batch])
    x = pad_sequence([v for v, _ in batch], batch_first=True)
    mask = torch.arange(x.size(1))[None, :] < lengths[:, None]
    return x, mask, torch.stack([r for _, r in batch])


class AttentionPool(nn.Module):
    def __init__(self, d_in=5, d=32):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(d_in, d), nn.ReLU())
        self.score = nn.Linear(d, 1)
        self.head = nn.Linear(d, 1)

    def forward(self, x, mask):
        h = self.proj(x)
        s = self.score(h).squeeze(-1)
        s = s.masked_fill(mask, -1e4)
        w = torch.softmax(s, dim=1)
        pooled = torch.einsum("bt,btd->bd", w, h)
        return self.head(pooled).squeeze(-1)


loader = torch.utils.data.DataLoader(visit_history(320), batch_size=32, shuffle=True, collate_fn=collate)
model = AttentionPool()
huber = nn.HuberLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    tot = 0.0
    for x, mask, risk in loader:
        opt.zero_grad()
        loss = huber(model(x, mask), risk)
        loss.backward()
        opt.step()
        tot += loss.item()
    print(epoch, f"{tot / len(loader):.6f}")
