"""Reef fish classifier on small synthetic RGB thumbnails."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class ReefDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 4, n)
        images = rng.normal(110, 25, (n, 24, 24, 3))
        for i, k in enumerate(self.labels):
            images[i, :, k * 6:(k + 1) * 6, k % 3] += 60
        self.images = images.clip(0, 255).astype(np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i]).float() / 255.0
        return img, int(self.labels[i])


class ReefNet(nn.Module):
    def __init__(self, num_species=4):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Linear(32 * 6 * 6, num_species)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def main():
    torch.manual_seed(7)
    train = DataLoader(ReefDataset(256, 0), batch_size=32, shuffle=True)
    test = DataLoader(ReefDataset(96, 1), batch_size=32)
    net = ReefNet()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for epoch in range(8):
        net.train()
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
    print("accuracy", hits / 96)


if __name__ == "__main__":
    main()
