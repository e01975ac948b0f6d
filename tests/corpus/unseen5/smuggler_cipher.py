"""Seq2seq that reverses short coded messages."""
import torch
import torch.nn as nn
import torch.optim as optim

SYMBOLS, LENGTH, BOS = 12, 5, 12


class Encoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, 16)
        self.gru = nn.GRU(16, hidden, batch_first=True)

    def forward(self, src):
        _, h = self.gru(self.embedding(src))
        return h


class Decoder(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS + 1, 16)
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, SYMBOLS)

    def forward(self, tokens, h):
        y, h = self.gru(self.embedding(tokens), h)
        return self.out(y), h


def messages(n):
    src = torch.randint(0, SYMBOLS, (n, LENGTH))
    return src, src.flip(1)


def train_step(encoder, decoder, optimizers, criterion, src, tgt):
    for o in optimizers:
        o.zero_grad()
    hidden = encoder(src)
    bos = torch.full((src.size(0), 1), BOS)
    dec_in = torch.cat([bos, tgt[:, :-1]], 1)
    logits, _ = decoder(dec_in, hidden.detach())
    loss = criterion(logits.reshape(-1, SYMBOLS), tgt.reshape(-1))
    loss.backward()
    for o in optimizers:
        o.step()
    return loss.item()


@torch.no_grad()
def greedy(encoder, decoder, src):
    h = encoder(src)
    tok = torch.full((src.size(0), 1), BOS)
    out = []
    for _ in range(LENGTH):
        logits, h = decoder(tok, h)
        tok = logits.argmax(-1)
        out.append(tok)
    return torch.cat(out, 1)


torch.manual_seed(36)
enc, dec = Encoder(64), Decoder(64)
opts = [optim.Adam(enc.parameters(), lr=5e-3), optim.Adam(dec.parameters(), lr=5e-3)]
crit = nn.CrossEntropyLoss()
for it in range(400):
    loss = train_step(enc, dec, opts, crit, *messages(64))
    if it % 100 == 0:
        print(f"iter {it} loss {loss:.4f}")
src, tgt = messages(500)
pred = greedy(enc, dec, src)
print("token accuracy", (pred == tgt).float().mean().item(), "exact", (pred == tgt).all(1).float().mean().item())
