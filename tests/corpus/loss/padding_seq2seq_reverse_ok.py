import random

import torch
from torch import nn

PAD, BOS, EOS = 0, 1, 2
VOCAB = 13
random.seed(0)
torch.manual_seed(0)


def make_pair(max_len=9):
    n = random.randint(2, max_len)
    src = [random.randint(3, VOCAB - 1) for _ in range(n)]
    return src, [BOS] + src[::-1] + [EOS]


def pad(seqs):
    width = max(map(len, seqs))
    return torch.tensor([s + [PAD] * (width - len(s)) for s in seqs])


class Seq2Seq(nn.Module):
    def __init__(self, dim=24, hidden=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.encoder = nn.GRU(dim, hidden, batch_first=True)
        self.decoder = nn.GRU(dim, hidden, batch_first=True)
        self.proj = nn.Linear(hidden, VOCAB)

    def forward(self, src, lengths, tgt_in):
        packed = nn.utils.rnn.pack_padded_sequence(self.embed(src), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.encoder(packed)
        out, _ = self.decoder(self.embed(tgt_in), h)
        return self.proj(out)


model = Seq2Seq()
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
pairs = [make_pair() for _ in range(320)]

for step in range(60):
    batch = random.sample(pairs, 32)
    src = pad([s for s, _ in batch])
    lengths = torch.tensor([len(s) for s, _ in batch])
    tgt = pad([t for _, t in batch])
    logits = model(src, lengths, tgt[:, :-1])
    loss = criterion(logits.reshape(-1, VOCAB), tgt[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if (step + 1) % 10 == 0:
        print(f"step {step + 1}: loss = {loss.item():.4f}")
