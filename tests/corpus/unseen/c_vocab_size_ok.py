import random
from collections import Counter

import torch
import torch.nn as nn
from torch.utils.data import DataLoader

random.seed(0)
torch.manual_seed(0)
SPAM = "win cash prize free click offer now".split()
HAM = "meeting lunch report tomorrow thanks project call".split()
BOTH = "please the your you for at on we".split()


def message():
    label = random.randrange(2)
    pool = (SPAM if label else HAM) + BOTH
    return random.choices(pool, k=8), label


messages = [message() for _ in range(500)]
counter = Counter(w for toks, _ in messages for w in toks)
vocab = {w: i for i, (w, _) in enumerate(counter.most_common(), start=1)}
UNK = len(vocab) + 1
vocab_size = len(vocab)


def encode(toks):
    return [vocab.get(t, UNK) for t in toks]


class SpamNet(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab_size + 2, dim, mode="mean")
        self.fc = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x):
        return self.fc(self.emb(x))


def collate(items):
    return torch.tensor([encode(t) for t, _ in items]), torch.tensor([y for _, y in items])


loader = DataLoader(messages, batch_size=25, shuffle=True, collate_fn=collate)
net = SpamNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(5):
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
with torch.no_grad():
    probe = torch.tensor([encode("free prize hello now click you the win".split())])
    print("spam probability", net(probe).softmax(1)[0, 1].item())
