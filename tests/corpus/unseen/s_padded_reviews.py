import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

random.seed(0)
torch.manual_seed(0)
GOOD = ["great", "lovely", "fun", "superb", "warm"]
BAD = ["dull", "awful", "boring", "weak", "cold"]
FILL = ["the", "film", "was", "a", "plot", "and", "actor", "scene", "with", "it"]
vocab = {w: i + 1 for i, w in enumerate(GOOD + BAD + FILL)}


def review():
    label = random.randint(0, 1)
    words = random.choices(FILL, k=random.randint(5, 11))
    for _ in range(random.randint(1, 2)):
        words.insert(random.randrange(len(words)), random.choice(GOOD if label else BAD))
    return torch.tensor([vocab[w] for w in words]), label


def collate(items):
    seqs, labels = zip(*items)
    return pad_sequence(seqs, batch_first=True, padding_value=0), torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(len(vocab) + 1, d, padding_idx=0)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.cls = nn.Parameter(torch.randn(1, 1, d) * 0.1)
        self.out = nn.Linear(d, 2)

    def forward(self, tokens):
        pad_mask = tokens != 0
        x = torch.cat([self.cls.expand(len(tokens), 1, -1), self.emb(tokens)], 1)
        pad_mask = torch.cat([torch.zeros(len(tokens), 1, dtype=torch.bool), pad_mask], 1)
        return self.out(self.encoder(x, src_key_padding_mask=pad_mask)[:, 0])


train = [review() for _ in range(640)]
test = collate([review() for _ in range(200)])
loader = torch.utils.data.DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
model = Classifier()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    model.train()
    total = 0
    for tokens, labels in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens), labels)
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(test[0]).argmax(1) == test[1]).float().mean().item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} test acc {acc:.3f}")
