"""Bag-of-embeddings review scorer."""
import random
from collections import Counter

import torch
import torch.nn as nn

GOOD = "lovely warm friendly tasty cosy fresh great charming".split()
BAD = "cold rude stale dirty slow awful noisy bland".split()
NEUTRAL = "the soup ale room host bread table music evening we had was".split()
PAD, UNK = 0, 1


def write_review(rng):
    label = rng.randint(0, 1)
    words = [rng.choice(NEUTRAL) for _ in range(rng.randint(4, 9))]
    for _ in range(rng.randint(1, 3)):
        words.insert(rng.randint(0, len(words)), rng.choice(GOOD if label else BAD))
    return words, label


class Vocab:
    def __init__(self, texts, min_count=1):
        counts = Counter(w for t in texts for w in t)
        kept = [w for w, c in counts.most_common() if c >= min_count]
        self.index = {w: i + 2 for i, w in enumerate(kept)}

    def __len__(self):
        return len(self.index) + 2

    def encode(self, words, width=14):
        ids = [self.index.get(w, UNK) for w in words][:width]
        return ids + [PAD] * (width - len(ids))


class Scorer(nn.Module):
    def __init__(self, vocab_size, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim, padding_idx=PAD)
        self.fc = nn.Linear(dim, 1)

    def forward(self, ids):
        return self.fc(self.emb(ids).sum(1) / (ids != PAD).sum(1, keepdim=True)).squeeze(1)


def main():
    rng = random.Random(30)
    torch.manual_seed(30)
    reviews = [write_review(rng) for _ in range(400)]
    vocab = Vocab([w for w, _ in reviews[:300]])
    x = torch.tensor([vocab.encode(w) for w, _ in reviews])
    y = torch.tensor([float(l) for _, l in reviews])
    model = Scorer(len(vocab))
    opt = torch.optim.Adam(model.parameters(), lr=2e-2)
    for epoch in range(8):
        for idx in torch.randperm(300).split(30):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        acc = ((model(x[300:]) > 0).float() == y[300:]).float().mean().item()
    print(f"loss {loss.item():.4f} held-out accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
