import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 0
VOCAB, TAGS = 60, 6


def make_sentence(rng):
    length = rng.choice([3, 4, 5, 6, 7, 40])
    words = [rng.randint(1, VOCAB - 1) for _ in range(length)]
    tags = []
    for i, word in enumerate(words):
        previous = words[i - 1] if i else 0
        tags.append(1 + (word + previous) % 2 + 2 * (word % 2))
    return torch.tensor(words), torch.tensor(tags)


def collate(batch):
    words, tags = zip(*batch)
    return (
        pad_sequence(words, batch_first=True, padding_value=PAD),
        pad_sequence(tags, batch_first=True, padding_value=PAD),
    )


class Tagger(nn.Module):
    def __init__(self, dim=16, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, TAGS)

    def forward(self, words):
        states, _ = self.rnn(self.embed(words))
        return self.out(states)


def main():
    rng = random.Random(0)
    torch.manual_seed(0)
    train = DataLoader([make_sentence(rng) for _ in range(500)], batch_size=32, shuffle=True, collate_fn=collate)
    test = DataLoader([make_sentence(rng) for _ in range(150)], batch_size=50, collate_fn=collate)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(4):
        model.train()
        for words, tags in train:
            logits = model(words)
            loss = criterion(logits.flatten(0, 1), tags.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        hits = count = 0
        with torch.no_grad():
            for words, tags in test:
                keep = tags != PAD
                hits += (model(words).argmax(-1) == tags)[keep].sum().item()
                count += keep.sum().item()
        print(f"epoch {epoch}: loss {loss.item():.3f} token accuracy {hits / count:.3f}")


if __name__ == "__main__":
    main()
