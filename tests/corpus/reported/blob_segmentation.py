"""Segment bright discs in noisy images with a small encoder-decoder."""
import torch
from torch import nn
import torch.nn.functional as F


def make_images(n, size=16, seed=0):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    centers = torch.rand(n, 2, generator=g) * (size - 6) + 3
    radii = 2 + 2.5 * torch.rand(n, 1, 1, generator=g)
    dist = (yy - centers[:, 0].view(-1, 1, 1)) ** 2 + (xx - centers[:, 1].view(-1, 1, 1)) ** 2
    masks = (dist <= radii**2).float()
    images = masks * 0.8 + 0.35 * torch.randn(n, size, size, generator=g)
    return images.unsqueeze(1), masks.unsqueeze(1)


class TinyUNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU())
        self.up = nn.Conv2d(3 * c, 1, 3, padding=1)

    def forward(self, x):
        d = self.down(x)
        m = self.mid(F.max_pool2d(d, 2))
        m = F.interpolate(m, scale_factor=2, mode="nearest")
        return self.up(torch.cat([d, m], dim=1))


def dice_loss(logits, masks, smooth=1.0):
    probs = torch.sigmoid(logits).flatten(1)
    masks = masks.flatten(1)
    overlap = (probs * masks).sum(dim=1)
    dice = (2 * overlap + smooth) / (probs.sum(dim=1) + masks.sum(dim=1) + smooth)
    return dice.mean()


def iou(logits, masks):
    predicted = logits > 0
    truth = masks > 0.5
    inter = (predicted & truth).sum(dim=(1, 2, 3)).float()
    union = (predicted | truth).sum(dim=(1, 2, 3)).float()
    return (inter / union.clamp(min=1)).mean().item()


def main():
    torch.manual_seed(0)
    images, masks = make_images(320, seed=1)
    val_images, val_masks = make_images(80, seed=2)
    model = TinyUNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(6):
        model.train()
        for idx in torch.randperm(len(images)).split(32):
            logits = model(images[idx])
            loss = 0.3 * F.binary_cross_entropy_with_logits(logits, masks[idx]) + dice_loss(logits, masks[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            score = iou(model(val_images), val_masks)
        print(f"epoch {epoch} loss {loss.item():.3f} val IoU {score:.3f}")


if __name__ == "__main__":
    main()
