import random

import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)
WORDS = [f"w{i}" for i in range(80)]
texts = [[random.choice(WORDS) for _ in range(12)] for _ in range(300)]
labels = torch.tensor([int(t.count("w1") + t.count("w2") > 0) for t in texts])
counts = {}
for text in texts:
    for word in text:
        counts[word] = counts.get(word, 0) + 1
kept = sorted(counts, key=counts.get, reverse=True)[:50]
stoi = {w: i for i, w in enumerate(kept)}
UNK = len(stoi)
ids = torch.tensor([[stoi.get(w, UNK) for w in t] for t in texts])


class Bag(nn.Module):
    def __init__(self, vocab_size, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        return self.out(self.embed(x).mean(1))


model = Bag(len(stoi))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(100):
    rows = torch.randint(0, 300, (32,))
    loss = nn.functional.cross_entropy(model(ids[rows]), labels[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", loss.item())
