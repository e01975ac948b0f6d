"""An SSD-like detector with one anchor size on a grid, for one class."""
import torch
import torch.nn.functional as F
from torch import nn

GRID, SIZE = 4, 32


def make_anchors():
    step = SIZE / GRID
    centers = (torch.arange(GRID) + 0.5) * step
    y, x = torch.meshgrid(centers, centers, indexing="ij")
    boxes = torch.stack([x.flatten(), y.flatten()], dim=1)
    return torch.cat([boxes, torch.full_like(boxes, 10.0)], dim=1)


def to_corners(boxes):
    return torch.cat([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], dim=-1)


def pairwise_iou(a, b):
    low = torch.max(a[:, None, :2], b[None, :, :2])
    high = torch.min(a[:, None, 2:], b[None, :, 2:])
    overlap = (high - low).clamp(min=0).prod(-1)
    area = lambda box: (box[:, 2:] - box[:, :2]).clamp(min=0).prod(-1)
    return overlap / (area(a)[:, None] + area(b)[None] - overlap)


def match(anchors, boxes, threshold=0.3):
    """Anchors and boxes as centers and extents; which anchors have each picture's object."""
    iou = pairwise_iou(to_corners(anchors), to_corners(boxes))
    positive = iou.T >= threshold
    positive[torch.arange(len(boxes)), iou.argmax(0)] = True
    offsets = (boxes[:, None, :2] - anchors[None, :, :2]) / anchors[None, :, 2:]
    scales = torch.log(boxes[:, None, 2:] / anchors[None, :, 2:])
    return positive, torch.cat([offsets, scales], dim=-1)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU()
        )
        self.out = nn.Conv2d(32, 5, 3, padding=1)

    def forward(self, x):
        result = self.out(self.body(x)).flatten(2).transpose(1, 2)
        return result[..., 0], result[..., 1:]


def scenes(count, generator):
    extent = 7 + 6 * torch.rand(count, 2, generator=generator)
    center = extent / 2 + torch.rand(count, 2, generator=generator) * (SIZE - extent)
    boxes = torch.cat([center, extent], dim=1)
    corners, line = to_corners(boxes), torch.arange(SIZE)
    x = (line >= corners[:, :1]) & (line < corners[:, 2:3])
    y = (line >= corners[:, 1:2]) & (line < corners[:, 3:])
    return (y[:, :, None] & x[:, None]).float().unsqueeze(1), boxes


def main():
    torch.manual_seed(1)
    generator, anchors, model = torch.Generator().manual_seed(1), make_anchors(), Detector()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(120):
        pictures, boxes = scenes(32, generator)
        scores, deltas = model(pictures)
        positive, wanted = match(anchors, boxes)
        loss = F.binary_cross_entropy_with_logits(scores, positive.float())
        loss = loss + F.smooth_l1_loss(deltas[positive], wanted[positive])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 39:
            best = anchors[scores.argmax(1), :2]
            print(f"step {step} loss {loss.item():.4f} distance {(best - boxes[:, :2]).norm(dim=1).mean():.3f}")


main()
