import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

random.seed(8)
torch.manual_seed(8)

PARTS = ["bolt", "nut", "gear", "shaft", "seal"]
FILLER = ["the", "old", "needs", "new", "for", "machine", "please", "send"]
vocab = {w: i + 1 for i, w in enumerate(PARTS + FILLER)}


def sentence():
    n = random.randint(3, 12)
    words = [random.choice(PARTS if random.random() < 0.3 else FILLER) for _ in range(n)]
    tags = [1 if w in PARTS and (i > 0 and words[i - 1] == "new" or i == n - 1) else 0 for i, w in enumerate(words)]
    return [vocab[w] for w in words], tags


def make_batch(size):
    pairs = [sentence() for _ in range(size)]
    lengths = torch.tensor([len(p[0]) for p in pairs])
    width = int(lengths.max())
    x = torch.zeros(size, width, dtype=torch.long)
    y = torch.full((size, width), -100)
    for i, (w, t) in enumerate(pairs):
        x[i, :len(w)] = torch.tensor(w)
        y[i, :len(t)] = torch.tensor(t)
    return x, y, lengths


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab) + 1, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, 24, batch_first=True, bidirectional=True)
        self.out = nn.Linear(48, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(h)


tagger = Tagger()
optim = torch.optim.Adam(tagger.parameters(), lr=1e-2)
for step in range(60):
    x, y, lengths = make_batch(16)
    loss = nn.functional.cross_entropy(tagger(x, lengths).transpose(1, 2), y, ignore_index=-100)
    optim.zero_grad()
    loss.backward()
    optim.step()
    if step % 20 == 0:
        print("step", step, "loss", loss.item())
x, y, lengths = make_batch(200)
with torch.no_grad():
    pred = tagger(x, lengths).argmax(-1)
keep = y != -100
print("tag accuracy", (pred[keep] == y[keep]).float().mean().item())
