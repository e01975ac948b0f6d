import math
import random

import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(1111)
words = "a big small red blue cat dog bird sees likes chases house tree in near the .".split()
GRAMMAR = [["the", "a"], ["big", "small", "red", "blue"], ["cat", "dog", "bird"], ["sees", "likes", "chases"],
           ["the", "a"], ["house", "tree", "cat"], ["."]]
corpus = [words.index(random.choice(c)) for _ in range(500) for c in GRAMMAR]
train_ids, val_ids = torch.tensor(corpus[:3000]), torch.tensor(corpus[3000:])
bptt = 14


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, nhid=32, dropout=0.1):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, nhid)
        self.rnn = nn.LSTM(nhid, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.nhid = nhid

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.drop(self.encoder(x)), hidden)
        return self.decoder(self.drop(out)).view(-1, self.decoder.out_features), hidden

    def init_hidden(self, bsz):
        w = next(self.parameters())
        return w.new_zeros(1, bsz, self.nhid), w.new_zeros(1, bsz, self.nhid)


def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


def get_batch(source, i):
    n = min(bptt, len(source) - 1 - i)
    return source[i:i + n], source[i + 1:i + 1 + n].reshape(-1)


model = RNNModel(len(words))
criterion = nn.CrossEntropyLoss()
train_data, val_data = batchify(train_ids, 10), batchify(val_ids, 10)
lr, best_val = 5.0, None
for epoch in range(1, 9):
    model.train()
    hidden = model.init_hidden(10)
    for i in range(0, train_data.size(0) - 1, bptt):
        data, targets = get_batch(train_data, i)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
    model.eval()
    total, hidden = 0.0, model.init_hidden(10)
    with torch.no_grad():
        for i in range(0, val_data.size(0) - 1, bptt):
            data, targets = get_batch(val_data, i)
            output, hidden = model(data, hidden)
            total += len(data) * criterion(output, targets).item()
    val_loss = total / (len(val_data) - 1)
    print(f"| end of epoch {epoch} | lr {lr:.2f} | valid loss {val_loss:.3f} | ppl {math.exp(val_loss):.2f}")
    if best_val is None or val_loss < best_val:
        best_val = val_loss
    else:
        lr /= 4.0
