"""Finds one bright rectangle per picture; trained with an IoU loss."""
import torch
from torch import nn


def make_scenes(count, generator, size=16):
    corner = torch.randint(0, 9, (count, 2), generator=generator)
    extent = torch.randint(4, 8, (count, 2), generator=generator)
    boxes = torch.cat([corner, corner + extent], dim=1).float()
    grid = torch.arange(size).float()
    inside_x = (grid >= boxes[:, 0:1]) & (grid < boxes[:, 2:3])
    inside_y = (grid >= boxes[:, 1:2]) & (grid < boxes[:, 3:4])
    pictures = (inside_y[:, :, None] & inside_x[:, None, :]).float().unsqueeze(1)
    pictures += 0.1 * torch.randn(pictures.shape, generator=generator)
    return pictures, boxes / size


def box_iou(a, b):
    left_top = torch.max(a[:, :2], b[:, :2])
    right_bottom = torch.min(a[:, 2:], b[:, 2:])
    overlap = (right_bottom - left_top).clamp(min=0).prod(dim=1)
    area_a = (a[:, 2:] - a[:, :2]).prod(dim=1)
    area_b = (b[:, 2:] - b[:, :2]).prod(dim=1)
    return overlap / (area_a + area_b - overlap + 1e-6)


class BoxNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.head = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        center, extent = self.head(self.backbone(x)).sigmoid().chunk(2, dim=1)
        return torch.cat([center - extent / 2, center + extent / 2], dim=1)


def iou_loss(predicted, wanted):
    iou = box_iou(predicted, wanted)
    return (1 - iou).mean()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = BoxNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(200):
        pictures, boxes = make_scenes(32, generator)
        loss = iou_loss(model(pictures), boxes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            pictures, boxes = make_scenes(200, generator)
            with torch.no_grad():
                print(f"step {step} mean IoU {box_iou(model(pictures), boxes).mean():.4f}")


if __name__ == "__main__":
    main()
