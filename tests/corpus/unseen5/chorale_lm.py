"""Truncated BPTT language model over a synthetic chorale."""
import math

import torch
import torch.nn as nn

torch.manual_seed(3)
VOCAB, BATCH, BPTT = 24, 8, 16


def compose(length):
    notes = [0, 4]
    for i in range(length):
        step = [2, 5, 7][(notes[-1] + i // 4) % 3]
        notes.append((notes[-1] + step + notes[-2] // 6) % VOCAB)
    return torch.tensor(notes)


def batchify(stream):
    n = stream.numel() // BATCH
    return stream[: n * BATCH].view(BATCH, n).t().contiguous()


class ChoraleLM(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.rnn = nn.LSTM(dim, dim)
        self.out = nn.Linear(dim, VOCAB)

    def init_hidden(self):
        z = torch.zeros(1, BATCH, 32)
        return z, z.clone()

    def forward(self, x, state):
        y, state = self.rnn(self.emb(x), state)
        return self.out(y), state


data = batchify(compose(2400))
model = ChoraleLM()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(3):
    state = model.init_hidden()
    total, count = 0.0, 0
    for i in range(0, data.size(0) - 1 - BPTT, BPTT):
        x, y = data[i:i + BPTT], data[i + 1:i + 1 + BPTT]
        optimizer.zero_grad()
        logits, state = model(x, state)
        loss = criterion(logits.reshape(-1, VOCAB), y.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        count += 1
    print(f"epoch {epoch} ppl {math.exp(total / count):.3f}")
