import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

random.seed(1)
torch.manual_seed(1)
PAD = 0
TAGS = ["<pad>", "DET", "NOUN", "VERB", "ADJ"]
LEX = {"DET": range(1, 6), "NOUN": range(6, 30), "VERB": range(24, 48), "ADJ": range(40, 60)}
NEXT = {"DET": ["NOUN", "ADJ"], "ADJ": ["NOUN"], "NOUN": ["VERB"], "VERB": ["DET"]}


def sentence():
    n = random.choice([3, 4, 5, 6, 40])
    tag, toks, tags = "DET", [], []
    for _ in range(n):
        toks.append(random.choice(LEX[tag]))
        tags.append(TAGS.index(tag))
        tag = random.choice(NEXT[tag])
    return toks, tags


def collate(items):
    width = max(len(t) for t, _ in items)
    toks = torch.full((len(items), width), PAD)
    tags = torch.full((len(items), width), PAD)
    for i, (t, g) in enumerate(items):
        toks[i, :len(t)] = torch.tensor(t)
        tags[i, :len(g)] = torch.tensor(g)
    return toks, tags


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(60, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, 16, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(32, len(TAGS))

    def forward(self, x):
        return self.fc(self.rnn(self.emb(x))[0])


train = DataLoader([sentence() for _ in range(400)], batch_size=20, shuffle=True, collate_fn=collate)
test = collate([sentence() for _ in range(100)])
model = Tagger()
opt = torch.optim.SGD(model.parameters(), lr=0.3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for epoch in range(4):
    model.train()
    for toks, tags in train:
        loss = criterion(model(toks).flatten(0, 1), tags.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        pred = model(test[0]).argmax(-1)
    real = test[1] != PAD
    acc = (pred[real] == test[1][real]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy on words {acc:.4f}")
