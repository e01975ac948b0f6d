import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class StripeMaps(Dataset):
    """Noisy pictures of three kinds of ground; one label for each pixel."""

    def __init__(self, n=64, size=12, seed=0):
        rng = np.random.RandomState(seed)
        self.labels = np.zeros((n, size, size), dtype=np.int64)
        for k in range(n):
            a, b = sorted(rng.choice(np.arange(1, size), 2, replace=False))
            self.labels[k, a:b] = 1
            self.labels[k, b:] = 2
        self.images = (self.labels - 1 + rng.normal(0, 0.5, self.labels.shape)).astype(np.float32)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, k):
        return self.images[k][None], self.labels[k]


class Segmenter:
    def __init__(self, lr=5e-3):
        self.net = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(),
            nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
            nn.Conv2d(12, 3, 1),
        )
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.loss = nn.CrossEntropyLoss()

    def step(self, images, labels):
        self.opt.zero_grad()
        out = self.net(images)
        loss = self.loss(out, labels)
        loss.backward()
        self.opt.step()
        return loss.item()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            values = [self.step(x, y) for x, y in loader]
            print(f"epoch {epoch + 1:d}/{epochs:d} pixel ce {np.mean(values):.6f}")


torch.manual_seed(0)
Segmenter().fit(DataLoader(StripeMaps(), batch_size=8, shuffle=True), epochs=5)
