import random

import torch
import torch.nn as nn
import torch.nn.functional as F

GROUPS, PER_GROUP = 6, 10
VOCAB = GROUPS * PER_GROUP


def corpus(rng, sentences, length=12):
    text = []
    for _ in range(sentences):
        group = rng.randrange(GROUPS)
        text.append([group * PER_GROUP + rng.randrange(PER_GROUP) for _ in range(length)])
    return text


def pairs_of(text, window=2):
    pairs = []
    for sentence in text:
        for i, center in enumerate(sentence):
            for j in range(max(0, i - window), min(len(sentence), i + window + 1)):
                if i != j:
                    pairs.append((center, sentence[j]))
    return torch.tensor(pairs)


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.center = nn.Embedding(vocab, dim)
        self.context = nn.Embedding(vocab, dim)
        nn.init.uniform_(self.center.weight, -0.5 / dim, 0.5 / dim)
        nn.init.uniform_(self.context.weight, -0.5 / dim, 0.5 / dim)

    def forward(self, center, context, negatives):
        v = self.center(center)
        positive = (v * self.context(context)).sum(dim=1)
        negative = torch.bmm(self.context(negatives), v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(positive) + F.logsigmoid(-negative).sum(dim=1)).mean()


def neighbour_precision(model):
    vectors = F.normalize(model.center.weight.detach(), dim=1)
    similarity = vectors @ vectors.t()
    similarity.fill_diagonal_(-2)
    nearest = similarity.topk(5, dim=1).indices
    group = torch.arange(VOCAB) // PER_GROUP
    return (group[nearest] == group.unsqueeze(1)).float().mean().item()


def main():
    torch.manual_seed(0)
    pairs = pairs_of(corpus(random.Random(0), 300))
    model = SkipGram(VOCAB, 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(6):
        for batch in pairs[torch.randperm(len(pairs))].split(256):
            negatives = torch.randint(0, VOCAB, (len(batch), 5))
            loss = model(batch[:, 0], batch[:, 1], negatives)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} precision@5 {neighbour_precision(model):.3f}")


if __name__ == "__main__":
    main()
