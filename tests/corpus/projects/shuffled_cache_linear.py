"""Loads a cached table, shuffles it once and trains on slices of it."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn


class Cache:
    def __init__(self, seed):
        images, labels = load_digits(return_X_y=True)
        self.images = images.astype(np.float32) / 16
        self.labels = labels.astype(np.int64)
        self.rng = np.random.default_rng(seed)

    def shuffled(self):
        order = self.rng.permutation(len(self.images))
        return self.images[order], self.labels

    def batches(self, size):
        images, labels = self.shuffled()
        for start in range(0, len(images) - size + 1, size):
            stop = start + size
            yield torch.from_numpy(images[start:stop]), torch.from_numpy(labels[start:stop])


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for before, after in zip(sizes[:-2], sizes[1:-1]):
            layers += [nn.Linear(before, after), nn.ReLU()]
        layers.append(nn.Linear(sizes[-2], sizes[-1]))
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


def train(model, cache, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        losses, hits, seen = [], 0, 0
        for x, y in cache.batches(64):
            optimizer.zero_grad()
            logits = model(x)
            loss = criterion(logits, y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            hits += (logits.argmax(1) == y).sum().item()
            seen += len(y)
        print(f"epoch {epoch}: loss {np.mean(losses):.4f} acc {hits / seen:.4f}")


def main():
    torch.manual_seed(0)
    cache = Cache(seed=12)
    model = MLP([64, 100, 50, 10])
    train(model, cache, epochs=8, lr=2e-3)


main()
