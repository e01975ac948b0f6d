"""Topics of short texts with an averaged embedding."""
import random
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader

TOPICS = {
    "sport": ["ball", "goal", "team", "run", "score"],
    "food": ["bread", "salt", "soup", "oven", "sweet"],
    "sea": ["ship", "wave", "salt", "wind", "fish"],
}
COMMON = ["the", "and", "of", "a", "very", "with"]


def make_texts(count, rng):
    names = list(TOPICS)
    rows = []
    for _ in range(count):
        label = rng.randrange(len(names))
        words = rng.choices(TOPICS[names[label]], k=4) + rng.choices(COMMON, k=4)
        rng.shuffle(words)
        rows.append((" ".join(words), label))
    return rows


class Vocabulary:
    def __init__(self, texts):
        counts = Counter(word for text in texts for word in text.split())
        self.index = {word: place + 1 for place, (word, _) in enumerate(counts.most_common())}

    def __len__(self):
        return len(self.index) + 1

    def encode(self, text):
        return [self.index.get(word, 0) for word in text.split()]


class Averaged(nn.Module):
    def __init__(self, vocab, classes, width=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=0)
        self.out = nn.Linear(width, classes)

    def forward(self, ids):
        return self.out(self.embed(ids).mean(1))


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    train, test = make_texts(600, rng), make_texts(150, rng)
    vocabulary = Vocabulary([text for text, _ in train])

    def collate(batch):
        ids = torch.tensor([vocabulary.encode(text) for text, _ in batch])
        return ids, torch.tensor([label for _, label in batch])

    loader = DataLoader(train, batch_size=30, shuffle=True, collate_fn=collate)
    model = Averaged(len(vocabulary), len(TOPICS))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(5):
        for ids, labels in loader:
            loss = nn.functional.cross_entropy(model(ids), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        ids, labels = collate(test)
        with torch.no_grad():
            print(f"epoch {epoch} test {(model(ids).argmax(1) == labels).float().mean():.4f}")


if __name__ == "__main__":
    main()
