import torch
from torch import nn

torch.manual_seed(12)


class MaskedMean(nn.Module):
    def __init__(self, vocab=40, d=24):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        self.att = nn.MultiheadAttention(d, 2, batch_first=True)
        self.fc = nn.Linear(d, 2)

    def forward(self, ids):
        pad = ids.eq(0)
        x = self.emb(ids)
        h, _ = self.att(x, x, x, key_padding_mask=pad, need_weights=False)
        keep = (~pad).unsqueeze(-1).float()
        pooled = ((x + h) * keep).sum(1) / keep.sum(1).clamp(min=1)
        return self.fc(pooled)


def batch(n):
    ids = torch.randint(5, 40, (n, 14))
    y = torch.randint(0, 2, (n,))
    ids[torch.arange(n), torch.randint(0, 3, (n,))] = torch.where(y == 1, 1, 2)
    lengths = torch.randint(3, 15, (n,))
    return ids.masked_fill(torch.arange(14) >= lengths[:, None], 0), y


model = MaskedMean()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(180):
    ids, y = batch(48)
    loss = nn.functional.cross_entropy(model(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 45 == 0:
        print(step, round(loss.item(), 4))
model.eval()
with torch.no_grad():
    ids, y = batch(400)
    print("accuracy", (model(ids).argmax(1) == y).float().mean().item())
