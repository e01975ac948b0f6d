import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def draw_tiles(n, size=12, seed=0):
    """RGB tiles; label says which colour channel carries the bright square."""
    rng = np.random.default_rng(seed)
    imgs = rng.uniform(0, 0.6, size=(n, size, size, 3)).astype(np.float32)
    labels = rng.integers(0, 3, n)
    for i, c in enumerate(labels):
        r, k = rng.integers(0, size - 4, 2)
        imgs[i, r:r + 4, k:k + 4, c] += 0.4
    return imgs, labels


class TileDataset(Dataset):
    def __init__(self, imgs, labels):
        self.imgs, self.labels = imgs, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.imgs[i])
        h, w, c = img.shape
        img = img.view(c, h, w)
        return (img - 0.3) / 0.2, int(self.labels[i])


class TileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(),
                                  nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1))
        self.fc = nn.Linear(12, 3)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def main():
    torch.manual_seed(0)
    train = DataLoader(TileDataset(*draw_tiles(900, seed=0)), batch_size=30, shuffle=True)
    test = DataLoader(TileDataset(*draw_tiles(300, seed=1)), batch_size=100)
    net = TileNet()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(8):
        tot = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            tot += loss.item()
        with torch.no_grad():
            acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test) / 300
        print(f"epoch {epoch} loss {tot / len(train):.3f} test acc {acc:.3f}")


main()
