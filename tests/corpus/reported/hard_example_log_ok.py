"""Digits classifier that lists the examples with the largest loss at the end."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class IndexedDigits(Dataset):
    def __init__(self):
        digits = load_digits()
        self.images = torch.tensor(digits.data / 16.0, dtype=torch.float32)
        self.labels = torch.tensor(digits.target)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index], index


def hardest(model, dataset, count=5):
    scored = []
    model.eval()
    with torch.no_grad():
        for images, labels, index in DataLoader(dataset, batch_size=256):
            losses = F.cross_entropy(model(images), labels, reduction="none")
            scored.extend(zip(losses.tolist(), index.tolist()))
    return sorted(scored, reverse=True)[:count]


def main():
    torch.manual_seed(31)
    dataset = IndexedDigits()
    train_loader = DataLoader(dataset, batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(4):
        for images, labels, _ in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} last loss {loss.item():.3f}")
    for loss, index in hardest(model, dataset):
        print(f"example {index} loss {loss:.2f}")


if __name__ == "__main__":
    main()
