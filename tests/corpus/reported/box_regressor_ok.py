"""Find the one bright rectangle of a picture; boxes are (centre x, centre y, width, height)."""
import torch
import torch.nn.functional as F
from torch import nn

SIZE = 16


def corners(boxes):
    centre, size = boxes[:, :2], boxes[:, 2:]
    return torch.cat([centre - size / 2, centre + size / 2], dim=1)


def iou(a, b):
    low = torch.maximum(a[:, :2], b[:, :2])
    high = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (high - low).clamp(min=0).prod(dim=1)
    area_a = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(dim=1)
    area_b = (b[:, 2:] - b[:, :2]).clamp(min=0).prod(dim=1)
    return inter / (area_a + area_b - inter + 1e-6)


def scenes(count, generator):
    pictures = 0.1 * torch.rand(count, 1, SIZE, SIZE, generator=generator)
    boxes = torch.zeros(count, 4)
    for i in range(count):
        w, h = torch.randint(4, 9, (2,), generator=generator).tolist()
        x = int(torch.randint(0, SIZE - w + 1, (1,), generator=generator))
        y = int(torch.randint(0, SIZE - h + 1, (1,), generator=generator))
        pictures[i, 0, y:y + h, x:x + w] += 0.8
        boxes[i] = torch.tensor([x + w / 2, y + h / 2, w, h]) / SIZE
    return pictures, boxes


class Locator(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(8 * 64, 64), nn.ReLU(), nn.Linear(64, 4), nn.Sigmoid())

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)))


def main():
    torch.manual_seed(70)
    generator = torch.Generator().manual_seed(70)
    net = Locator()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for step in range(120):
        pictures, boxes = scenes(32, generator)
        predicted = net(pictures)
        overlap = iou(corners(predicted), corners(boxes))
        loss = F.l1_loss(predicted, boxes) + (1 - overlap).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 39:
            print(f"step {step + 1} loss {loss.item():.4f} overlap {overlap.mean().item():.3f}")


if __name__ == "__main__":
    main()
