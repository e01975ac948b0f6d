import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Pages(Dataset):
    """Thumbnails of scanned pages and photos: HWC bytes as they come from the scanner."""

    def __init__(self, n=72, seed=3):
        rng = np.random.RandomState(seed)
        self.items = []
        for k in range(n):
            label = k % 2
            grey = k % 9 == 4
            shape = (12, 12) if grey else (12, 12, 3)
            img = rng.randint(0, 60, size=shape)
            if label:
                img[3:9, 3:9] += 150
            self.items.append((img.astype(np.uint8), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, label = self.items[i]
        if img.ndim == 2:
            img = img[:, :, None]
        x = torch.from_numpy(img).float().div(255).permute(2, 0, 1)
        return x, label


def build():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(32, 2),
    )


def main(accumulate=8, epochs=4):
    torch.manual_seed(3)
    net = build()
    loader = DataLoader(Pages(), batch_size=1, shuffle=True)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(epochs):
        total = 0.0
        opt.zero_grad()
        for step, (x, y) in enumerate(loader, 1):
            loss = nn.functional.cross_entropy(net(x), y)
            (loss / accumulate).backward()
            total += loss.item()
            if step % accumulate == 0:
                opt.step()
                opt.zero_grad()
        print(f"epoch {epoch}  loss {total / len(loader):.5f}")


if __name__ == "__main__":
    main()
