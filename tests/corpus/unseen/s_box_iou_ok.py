import torch
from torch import nn

torch.manual_seed(0)
SIZE = 20


def scenes(n, seed):
    g = torch.Generator().manual_seed(seed)
    imgs = 0.1 * torch.randn(n, 1, SIZE, SIZE, generator=g)
    boxes = torch.zeros(n, 4)
    for i in range(n):
        w, h = torch.randint(3, 6, (2,), generator=g).tolist()
        x = torch.randint(0, SIZE - w, (1,), generator=g).item()
        y = torch.randint(0, SIZE - h, (1,), generator=g).item()
        imgs[i, 0, y:y + h, x:x + w] += 1
        boxes[i] = torch.tensor([x, y, x + w, y + h]) / SIZE
    return imgs, boxes


def box_iou(a, b):
    lt = torch.maximum(a[:, :2], b[:, :2])
    rb = torch.minimum(a[:, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return inter / (area_a + area_b - inter + 1e-6)


class BoxHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(800, 64), nn.ReLU(), nn.Linear(64, 4))

    def forward(self, x):
        raw = torch.sigmoid(self.fc(self.conv(x)))
        center, size = raw[:, :2], raw[:, 2:] * 0.4 + 0.02
        return torch.cat([center - size / 2, center + size / 2], 1)


imgs, boxes = scenes(400, 1)
t_imgs, t_boxes = scenes(100, 2)
model = BoxHead()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    for idx in torch.randperm(400).split(25):
        pred = model(imgs[idx])
        l1 = (pred - boxes[idx]).abs().mean()
        loss = 1 - box_iou(pred, boxes[idx]).mean() + 0.5 * l1
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            pred = model(t_imgs)
            l1 = (pred - t_boxes).abs().mean().item()
            print(f"epoch {epoch + 1} loss {loss.item():.4f} test iou {box_iou(pred, t_boxes).mean().item():.4f} l1 {l1:.4f}")
