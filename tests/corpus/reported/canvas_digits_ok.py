import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PaddedDigits(Dataset):
    """Digits drawn at a random place of a larger canvas."""

    def __init__(self, images, labels, size=12, seed=0):
        self.images = images.astype(np.float32) / 16
        self.labels = labels
        self.size = size
        self.offsets = np.random.default_rng(seed).integers(0, size - 8 + 1, size=(len(labels), 2))
        self.canvas = np.zeros((size, size), dtype=np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        self.canvas.fill(0)
        top, left = self.offsets[i]
        self.canvas[top : top + 8, left : left + 8] = self.images[i]
        return torch.from_numpy(self.canvas.copy()), int(self.labels[i])


def collate(samples):
    images = [image.unsqueeze(0) for image, _ in samples]
    return torch.stack(images), torch.tensor([label for _, label in samples])


def build():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(2),
        nn.Flatten(), nn.Linear(96, 10),
    )


def main():
    torch.manual_seed(0)
    digits = load_digits()
    train_set = PaddedDigits(digits.images[:1200], digits.target[:1200], seed=1)
    test_set = PaddedDigits(digits.images[1200:], digits.target[1200:], seed=2)
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(test_set, batch_size=1)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(5):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train_loader):.3f}")
    model.eval()
    with torch.no_grad():
        hits = sum((model(x.unsqueeze(1)).argmax(1) == y).sum().item() for x, y in test_loader)
    print("test accuracy", round(hits / len(test_set), 3))


if __name__ == "__main__":
    main()
