import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

TEXTS = ["good film", "bad", "", "very good", "not so good", "really bad film"] * 10
LABELS = [1, 0, 0, 1, 0, 0] * 10
vocab = {w: i for i, w in enumerate(sorted({w for t in TEXTS for w in t.split()}), 1)}


def encode(text):
    return torch.tensor([vocab[w] for w in text.split()], dtype=torch.long)


class Reader(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.embed = nn.Embedding(n, 8, padding_idx=0)
        self.gru = nn.GRU(8, 16, batch_first=True)
        self.out = nn.Linear(16, 2)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
        return self.out(self.gru(packed)[1][0])


torch.manual_seed(0)
encoded = [encode(t) for t in TEXTS]
lengths = torch.tensor([max(1, len(e)) for e in encoded])
ids = pad_sequence(encoded, batch_first=True)
labels = torch.tensor(LABELS)
model = Reader(len(vocab) + 1)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for rows in torch.randperm(60).split(12):
        loss = nn.functional.cross_entropy(model(ids[rows], lengths[rows]), labels[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())
