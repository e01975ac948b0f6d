"""Localise a single buoy: box regression with flip augmentation."""
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIZE = 20


class BuoyDataset(Dataset):
    def __init__(self, n, seed, augment=False):
        g = torch.Generator().manual_seed(seed)
        self.augment = augment
        self.images, self.boxes = [], []
        for _ in range(n):
            w = int(torch.randint(4, 8, (1,), generator=g))
            h = int(torch.randint(4, 8, (1,), generator=g))
            x0 = int(torch.randint(0, SIZE - w, (1,), generator=g))
            y0 = int(torch.randint(0, SIZE - h, (1,), generator=g))
            img = 0.2 * torch.randn(1, SIZE, SIZE, generator=g)
            img[0, y0:y0 + h, x0:x0 + w] += 1
            self.images.append(img)
            self.boxes.append(torch.tensor([x0 + w / 2, y0 + h / 2, w, h]) / SIZE)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, box = self.images[i], self.boxes[i].clone()
        if self.augment and random.random() < 0.5:
            img = img.flip(-1)
        return img, box


def iou(a, b):
    lo = torch.max(a[:, :2] - a[:, 2:] / 2, b[:, :2] - b[:, 2:] / 2)
    hi = torch.min(a[:, :2] + a[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2)
    inter = (hi - lo).clamp(min=0).prod(1)
    return inter / (a[:, 2:].prod(1) + b[:, 2:].prod(1) - inter)


def build():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(16 * 25, 64), nn.ReLU(), nn.Linear(64, 4), nn.Sigmoid(),
    )


def main():
    random.seed(2)
    torch.manual_seed(2)
    train = DataLoader(BuoyDataset(400, 0, augment=True), batch_size=32, shuffle=True)
    test = DataLoader(BuoyDataset(150, 1), batch_size=150)
    model = build()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(10):
        for x, b in train:
            loss = nn.functional.smooth_l1_loss(model(x), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        x, b = next(iter(test))
        print(f"loss {loss.item():.5f} mean test IoU {iou(model(x), b).mean().item():.4f}")


if __name__ == "__main__":
    main()
