import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

GOOD = "great lovely superb excellent charming fun".split()
BAD = "awful boring terrible weak dull poor".split()
PLAIN = "the a film plot actor scene with and very this was it".split()


def write_reviews(count):
    rnd = random.Random(4)
    texts, labels = [], []
    for _ in range(count):
        label = rnd.randint(0, 1)
        words = rnd.choices(PLAIN, k=rnd.randint(4, 9)) + rnd.choices(GOOD if label else BAD, k=2)
        rnd.shuffle(words)
        texts.append(words)
        labels.append(label)
    return texts, labels


def encode(texts, vocab):
    width = max(len(t) for t in texts)
    ids = torch.zeros(len(texts), width, dtype=torch.long)
    for row, words in enumerate(texts):
        for col, word in enumerate(words):
            ids[row, col] = vocab[word]
    return ids


class BagOfWords(nn.Module):
    def __init__(self, size, dim=16):
        super().__init__()
        self.embedding = nn.Embedding(size, dim, padding_idx=0)
        self.linear = nn.Linear(dim, 2)

    def forward(self, ids):
        vectors = self.embedding(ids)
        counts = (ids != 0).sum(dim=1, keepdim=True)
        return self.linear(vectors.sum(dim=1) / counts)


def main():
    torch.manual_seed(4)
    texts, labels = write_reviews(500)
    vocab = {word: i for i, word in enumerate(GOOD + BAD + PLAIN, start=1)}
    loader = DataLoader(TensorDataset(encode(texts, vocab), torch.tensor(labels)), batch_size=50, shuffle=True)
    model = BagOfWords(len(vocab) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        for ids, target in loader:
            optimizer.zero_grad()
            loss = criterion(model(ids), target)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", loss.item())


if __name__ == "__main__":
    main()
