import torch
from torch import nn

torch.manual_seed(0)
V, BOS = 20, 0


class Seq2Seq(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.src, self.tgt = nn.Embedding(V, d), nn.Embedding(V, d)
        self.enc = nn.GRU(d, d, batch_first=True)
        self.dec = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, V)

    def forward(self, src, tgt):
        _, h = self.enc(self.src(src))
        y, _ = self.dec(self.tgt(tgt), h)
        return self.out(y)


def batch(n=64):
    src = torch.randint(1, V, (n, 8))
    return src, src.flip(1)


net = Seq2Seq()
opt = torch.optim.Adam(net.parameters(), 5e-3)
for step in range(200):
    src, tgt = batch()
    logits = net(src, tgt)
    loss = nn.functional.cross_entropy(logits.reshape(-1, V), tgt.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, loss.item())
net.eval()
src, tgt = batch()
cur = torch.full((64, 1), BOS)
with torch.no_grad():
    for _ in range(8):
        cur = torch.cat([cur, net(src, cur)[:, -1].argmax(-1, keepdim=True)], 1)
print("exact tokens", (cur[:, 1:] == tgt).float().mean().item())
