import torch
from torch import nn

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(30, d, padding_idx=0)
        self.pos = nn.Parameter(torch.randn(1, 16, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.cls = nn.Linear(d, 2)

    def forward(self, ids):
        h = self.emb(ids) + self.pos[:, : ids.size(1)]
        h = self.enc(h, src_key_padding_mask=ids != 0)
        keep = (ids != 0).unsqueeze(-1)
        return self.cls((h * keep).sum(1) / keep.sum(1))


def make(n):
    ids = torch.randint(3, 30, (n, 16))
    lens = torch.randint(4, 13, (n,))
    y = (torch.rand(n) < 0.5).long()
    for i in range(n):
        ids[i, 0] = 1 + y[i]
        ids[i, lens[i] :] = 0
    return ids, y


X, Y = make(800)
model = Encoder()
opt = torch.optim.AdamW(model.parameters(), 1e-3)
for epoch in range(4):
    order = torch.randperm(700)
    for s in range(0, 700, 50):
        i = order[s : s + 50]
        loss = nn.functional.cross_entropy(model(X[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(X[700:]).argmax(1) == Y[700:]).float().mean()
    model.train()
    print(epoch, loss.item(), acc.item())
