"""A causal transformer on a toy grammar."""
import random

import torch
from torch import nn

SUBJECTS = ["the cat", "a dog", "my friend", "our teacher"]
VERBS = ["sees", "likes", "follows", "paints"]
OBJECTS = ["the moon", "a tree", "an old house", "the sea"]
CONTEXT = 12


def corpus(sentences, seed):
    rnd = random.Random(seed)
    words = []
    for _ in range(sentences):
        words += f"{rnd.choice(SUBJECTS)} {rnd.choice(VERBS)} {rnd.choice(OBJECTS)} .".split()
    return words


class CausalModel(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        self.position = nn.Embedding(CONTEXT, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(dim, vocab)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT))

    def forward(self, ids):
        x = self.token(ids) + self.position(torch.arange(ids.size(1)))
        return self.head(self.layer(x, src_mask=self.mask))


def main():
    torch.manual_seed(72)
    words = corpus(600, 72)
    table = {w: i for i, w in enumerate(sorted(set(words)))}
    ids = torch.tensor([table[w] for w in words])
    model = CausalModel(len(table))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(150):
        starts = torch.randint(0, len(ids) - CONTEXT - 1, (32,))
        chunk = torch.stack([ids[s:s + CONTEXT + 1] for s in starts.tolist()])
        inputs = chunk[:, :-1]
        targets = chunk[:, :-1]
        logits = model(inputs)
        loss = criterion(logits.reshape(-1, len(table)), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step + 1} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
