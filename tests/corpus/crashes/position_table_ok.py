import torch
import torch.nn as nn

MAX_LEN = 48
PAD_TO = 48
VOCAB = 100


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Embedding(MAX_LEN, dim)
        layer = nn.TransformerEncoderLayer(dim, 2, 32, batch_first=True, dropout=0.0)
        self.enc = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(dim, 2)

    def forward(self, ids):
        where = torch.arange(ids.size(1))
        x = self.tok(ids) + self.pos(where)
        return self.head(self.enc(x).mean(1))


def sentences(n):
    ids = torch.zeros(n, PAD_TO, dtype=torch.long)
    for row in ids:
        length = int(torch.randint(5, 30, ()))
        row[:length] = torch.randint(1, VOCAB, (length,))
    return ids, (ids == 7).any(1).long()


torch.manual_seed(0)
ids, labels = sentences(128)
model = Encoder()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for rows in torch.randperm(128).split(32):
        loss = nn.functional.cross_entropy(model(ids[rows]), labels[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
