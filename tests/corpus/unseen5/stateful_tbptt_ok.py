"""Stateful TBPTT over contiguous streams: shuffle=False and time-major LSTM are intended."""
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Streams(Dataset):
    """Row i is the i-th consecutive chunk of each of the parallel streams."""

    def __init__(self, tokens, streams, bptt):
        n = tokens.numel() // streams
        self.data = tokens[: n * streams].view(streams, n).t().contiguous()
        self.bptt = bptt

    def __len__(self):
        return (self.data.size(0) - 1) // self.bptt

    def __getitem__(self, i):
        a = i * self.bptt
        return self.data[a:a + self.bptt], self.data[a + 1:a + 1 + self.bptt]


class LM(nn.Module):
    def __init__(self, vocab=16, dim=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.drop = nn.Dropout(0.1)
        self.lstm = nn.LSTM(dim, dim)
        self.head = nn.Linear(dim, vocab)
        self.head.weight = self.emb.weight

    def forward(self, x, state):
        out, state = self.lstm(self.drop(self.emb(x)), state)
        return self.head(self.drop(out)), state


def repackage(state):
    return None if state is None else tuple(s.detach() for s in state)


torch.manual_seed(18)
seq = [0]
for i in range(3000):
    seq.append((seq[-1] + (3 if (i // 5) % 2 else 5)) % 16)
loader = DataLoader(Streams(torch.tensor(seq), 8, 12), batch_size=None, shuffle=False)
model = LM()
lr, best = 4.0, float("inf")
for epoch in range(8):
    model.train()
    state, total = None, 0.0
    for x, y in loader:
        state = repackage(state)
        model.zero_grad()
        logits, state = model(x, state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total += loss.item()
    avg = total / len(loader)
    if avg < best:
        best = avg
    else:
        lr /= 4.0
    print(f"epoch {epoch} lr {lr:.2f} ppl {math.exp(avg):.3f}")
