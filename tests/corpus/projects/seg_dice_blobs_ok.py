"""Segments blobs with cross-entropy and a Dice term."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def blobs(count, generator, size=16):
    grid = torch.arange(size).float()
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    center = 4 + 8 * torch.rand(count, 2, generator=generator)
    radius = 2 + 2 * torch.rand(count, generator=generator)
    far = ((x - center[:, 0, None, None]) ** 2 + (y - center[:, 1, None, None]) ** 2).sqrt()
    masks = (far < radius[:, None, None]).long()
    pictures = masks.float() + 0.7 * torch.randn(count, size, size, generator=generator)
    return pictures.unsqueeze(1), masks


class SegNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.out = nn.Conv2d(2 * width, 2, 1)

    def forward(self, x):
        high = self.enc(x)
        low = self.mid(F.max_pool2d(high, 2))
        return self.out(torch.cat([high, F.interpolate(low, scale_factor=2)], dim=1))


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, target):
        prediction = logits.softmax(dim=1)[:, 1]
        overlap = (prediction * target).sum(dim=(1, 2))
        total = prediction.sum(dim=(1, 2)) + target.sum(dim=(1, 2))
        return (1 - (2 * overlap + self.smooth) / (total + self.smooth)).mean()


def train(model, generator, steps=100, weight=2.0):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    ce, dice = nn.CrossEntropyLoss(), DiceLoss()
    for step in range(steps):
        pictures, masks = blobs(16, generator)
        logits = model(pictures)
        ce_loss, dice_loss = ce(logits, masks), dice(logits, masks)
        loss = ce_loss + weight * dice_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 24:
            print(f"step {step} ce {ce_loss.item():.4f} dice {dice_loss.item():.4f}")


def main():
    torch.manual_seed(6)
    generator = torch.Generator().manual_seed(6)
    model = SegNet()
    train(model, generator)
    model.eval()
    pictures, masks = blobs(64, generator)
    with torch.no_grad():
        guess = model(pictures).argmax(1)
    print(f"IoU {((guess & masks).sum() / (guess | masks).sum()).item():.4f}")


if __name__ == "__main__":
    main()
