import torch
from torch import nn

torch.manual_seed(0)


def iou(a, b):
    lt = torch.max(a[:, :2], b[:, :2])
    rb = torch.min(a[:, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return inter / (area_a + area_b - inter + 1e-6)


def corners(b):
    return torch.cat([b[:, :2], b[:, :2] + b[:, 2:]], 1)


def scenes(n):
    img = torch.rand(n, 1, 16, 16) * 0.2
    xy = torch.randint(0, 8, (n, 2))
    wh = torch.randint(3, 8, (n, 2))
    for i in range(n):
        (x, y), (w, h) = xy[i], wh[i]
        img[i, 0, y : y + h, x : x + w] += 0.8
    return img, torch.cat([xy, wh], 1).float() / 16


img, box = scenes(600)
net = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 4), nn.Sigmoid())
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(8):
    net.train()
    for i in torch.randperm(500).split(50):
        pred = net(img[i])
        loss = nn.functional.smooth_l1_loss(pred, box[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        score = iou(net(img[500:]), box[500:]).mean()
    print(f"epoch {epoch}: loss {loss:.4f} mIoU {score:.3f}")
