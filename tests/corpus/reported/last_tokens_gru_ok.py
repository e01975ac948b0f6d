import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

VOCAB = 12


def sample(rng):
    """The label is decided by the last two tokens."""
    length = rng.randint(3, 40)
    tokens = [rng.randint(1, VOCAB - 1) for _ in range(length)]
    return torch.tensor(tokens), int(tokens[-1] > tokens[-2])


def make_batches(rng, count, size):
    batches = []
    for _ in range(count):
        tokens, labels = zip(*(sample(rng) for _ in range(size)))
        lengths = torch.tensor([len(t) for t in tokens])
        batches.append((pad_sequence(tokens, batch_first=True), lengths, torch.tensor(labels)))
    return batches


class LastTokens(nn.Module):
    def __init__(self, dim=12, hidden=20):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2)

    def forward(self, tokens, lengths):
        states, _ = self.gru(self.embed(tokens))
        last = states[torch.arange(len(lengths)), lengths - 1]
        return self.out(last)


def accuracy(model, batches):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for tokens, lengths, labels in batches:
            hits += (model(tokens, lengths).argmax(1) == labels).sum().item()
            total += len(labels)
    return hits / total


def main():
    rng = random.Random(1)
    torch.manual_seed(1)
    train, test = make_batches(rng, 40, 32), make_batches(rng, 8, 50)
    model = LastTokens()
    optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
    for epoch in range(5):
        model.train()
        rng.shuffle(train)
        for tokens, lengths, labels in train:
            loss = nn.functional.cross_entropy(model(tokens, lengths), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f} test accuracy {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
