import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class CrackDataset(Dataset):
    def __init__(self, n, seed, augment):
        rng = np.random.default_rng(seed)
        self.augment = augment
        self.images, self.masks = [], []
        for _ in range(n):
            mask = np.zeros((16, 16), dtype=np.float32)
            r, c = rng.integers(0, 10, 2)
            mask[r:r + 6, c:c + 3] = 1.0
            self.images.append((0.6 * mask + rng.normal(0, 0.25, (16, 16))).astype(np.float32))
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i])[None]
        mask = torch.from_numpy(self.masks[i])[None]
        if self.augment and torch.rand(1) < 0.5:
            img, mask = torch.flip(img, dims=[2]), torch.flip(mask, dims=[2])
        return img, mask


def iou(logits, mask):
    pred = logits > 0
    mask = mask.bool()
    return (pred & mask).sum().item() / max((pred | mask).sum().item(), 1)


def main():
    torch.manual_seed(0)
    train = DataLoader(CrackDataset(320, 0, True), batch_size=16, shuffle=True)
    test = DataLoader(CrackDataset(100, 1, False), batch_size=100)
    net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
                        nn.Conv2d(12, 1, 3, padding=1))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(10):
        total = 0.0
        for img, mask in train:
            loss = F.binary_cross_entropy_with_logits(net(img), mask)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        with torch.no_grad():
            score = np.mean([iou(net(i), m) for i, m in test])
        print(f"epoch {epoch} loss {total / len(train):.4f} test IoU {score:.3f}")


if __name__ == "__main__":
    main()
