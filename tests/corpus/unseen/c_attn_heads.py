import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
B, T, D, HEADS = 32, 10, 24, 4


def local_mask(lengths, window=3):
    pos = torch.arange(T)
    near = (pos[:, None] - pos[None]).abs() <= window
    valid = pos[None] < lengths[:, None]
    allowed = near[None] & valid[:, None, :]
    allowed = allowed | torch.eye(T, dtype=torch.bool)
    return ~allowed


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(D, HEADS, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(D, 48), nn.GELU(), nn.Linear(48, D))
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, x, mask):
        q = self.n1(x)
        a, _ = self.attn(q, q, q, attn_mask=mask, need_weights=False)
        x = x + a
        return x + self.ff(self.n2(x))


class EventModel(nn.Module):
    def __init__(self, n_types=8):
        super().__init__()
        self.emb = nn.Embedding(n_types, D)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.out = nn.Linear(D, 1)

    def forward(self, events, lengths):
        x = self.emb(events)
        mask = local_mask(lengths)
        for block in self.blocks:
            x = block(x, mask)
        keep = (torch.arange(T)[None] < lengths[:, None]).unsqueeze(2)
        pooled = (x * keep).sum(1) / keep.sum(1)
        return self.out(pooled).squeeze(1)


def batch():
    events = torch.randint(0, 8, (B, T))
    lengths = torch.randint(4, T + 1, (B,))
    keep = torch.arange(T)[None] < lengths[:, None]
    target = ((events == 3) & keep).sum(1).float() / lengths
    return events, lengths, target


model = EventModel()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(120):
    events, lengths, target = batch()
    loss = F.mse_loss(model(events, lengths), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.5f}")
print(f"final loss {loss.item():.5f}")
