import math

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, MAX_LEN = 20, 24


class MaskedAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, mask):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(x.size(-1))
        scores = scores.masked_fill(~mask.unsqueeze(1), float("-inf"))
        return F.softmax(scores, dim=-1) @ v


class Classifier(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.attention = MaskedAttention(dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, tokens, mask):
        x = self.embed(tokens)
        return self.out(self.attention(x, mask)[:, 0])


def make_batch(n):
    """Label: is the majority of the real tokens in the upper half? Slots behind the end hold old tokens."""
    tokens = torch.randint(0, VOCAB, (n, MAX_LEN))
    lengths = torch.randint(3, 8, (n,))
    mask = torch.arange(MAX_LEN) < lengths.unsqueeze(1)
    high = ((tokens >= VOCAB // 2) & mask).sum(dim=1)
    return tokens, mask, (2 * high > lengths).long()


def main():
    torch.manual_seed(0)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(1, 301):
        model.train()
        tokens, mask, label = make_batch(64)
        loss = F.cross_entropy(model(tokens, mask), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            model.eval()
            with torch.no_grad():
                tokens, mask, label = make_batch(1000)
                acc = (model(tokens, mask).argmax(1) == label).float().mean().item()
            print(f"step {step} loss {loss.item():.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
