import math

import torch
from torch import nn

torch.manual_seed(0)


class PositionalEncoding(nn.Module):
    def __init__(self, d, max_len=200):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(max_len, 1, d)
        pe[:, 0, 0::2] = torch.sin(pos * div)
        pe[:, 0, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(12, d)
        self.pe = PositionalEncoding(d)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, 0.0, batch_first=True), 1)
        self.out = nn.Linear(d, 2)

    def forward(self, ids):
        return self.out(self.enc(self.pe(self.emb(ids))).mean(1))


ids = torch.randint(0, 12, (900, 10))
y = (ids[:, 0] > ids[:, -1]).long()
net = Net()
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(8):
    for i in torch.randperm(800).split(40):
        loss = nn.functional.cross_entropy(net(ids[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss.item(), (net(ids[800:]).argmax(1) == y[800:]).float().mean().item())
