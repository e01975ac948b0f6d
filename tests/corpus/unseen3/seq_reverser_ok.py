import random
import torch
from torch import nn

random.seed(0)
torch.manual_seed(13)
V, L, BOS = 8, 5, 8


class Seq2Seq(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.emb = nn.Embedding(V + 1, d)
        self.enc = nn.GRU(d, d, batch_first=True)
        self.dec = nn.GRUCell(d, d)
        self.out = nn.Linear(d, V)

    def forward(self, src, tgt=None, teacher=0.0):
        _, h = self.enc(self.emb(src))
        h = h[0]
        tok = torch.full((src.size(0),), BOS)
        logits = []
        for t in range(L):
            h = self.dec(self.emb(tok), h)
            step = self.out(h)
            logits.append(step)
            if tgt is not None and random.random() < teacher:
                tok = tgt[:, t]
            else:
                tok = step.argmax(1)
        return torch.stack(logits, 1)


model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for it in range(200):
    src = torch.randint(0, V, (48, L))
    tgt = src.flip(1)
    logits = model(src, tgt, teacher=max(0.3, 1 - it / 200))
    loss = nn.functional.cross_entropy(logits.reshape(-1, V), tgt.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 0:
        print(it, round(loss.item(), 4))
with torch.no_grad():
    src = torch.randint(0, V, (200, L))
    print("token accuracy", (model(src).argmax(-1) == src.flip(1)).float().mean().item())
