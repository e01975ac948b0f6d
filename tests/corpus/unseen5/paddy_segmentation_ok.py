"""Paddy field segmentation: five land classes, tiles resized to a common size."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES, RAW, SIDE = 5, 12, 24
COLOURS = torch.tensor([[0.1, 0.1, 0.1], [0.9, 0.2, 0.1], [0.1, 0.9, 0.2], [0.2, 0.1, 0.9], [0.9, 0.9, 0.8]])


class PaddyTiles(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.masks = torch.zeros(n, RAW, RAW, dtype=torch.long)
        for i in range(n):
            for _ in range(7):
                k = int(torch.randint(0, CLASSES, (1,), generator=g))
                r, c = torch.randint(0, RAW - 3, (2,), generator=g).tolist()
                h, w = torch.randint(2, 5, (2,), generator=g).tolist()
                self.masks[i, r:r + h, c:c + w] = k
        self.images = COLOURS[self.masks].permute(0, 3, 1, 2) + 0.15 * torch.randn(n, 3, RAW, RAW, generator=g)

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, i):
        img = F.interpolate(self.images[i][None], size=SIDE, mode="bilinear", align_corners=False)[0]
        mask = self.masks[i][None, None].float()
        mask = F.interpolate(mask, size=SIDE, mode="nearest")[0, 0].long()
        return img, mask, self.masks[i]


def fcn():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, CLASSES, 1),
    )


def mean_iou(pred, true):
    scores = []
    for k in range(CLASSES):
        union = ((pred == k) | (true == k)).sum()
        if union > 0:
            scores.append((((pred == k) & (true == k)).sum() / union).item())
    return sum(scores) / len(scores)


def main():
    torch.manual_seed(81)
    train = DataLoader(PaddyTiles(160, 0), batch_size=16, shuffle=True)
    test = DataLoader(PaddyTiles(40, 1), batch_size=40)
    net = fcn()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(6):
        for img, mask, _ in train:
            loss = F.cross_entropy(net(img), mask)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        img, _, original = next(iter(test))
        logits = F.interpolate(net(img), size=RAW, mode="bilinear", align_corners=False)
    print("mIoU at original resolution", round(mean_iou(logits.argmax(1), original), 4))


if __name__ == "__main__":
    main()
