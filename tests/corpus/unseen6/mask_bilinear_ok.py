import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def scene(n):
    mask = torch.zeros(n, 24, 24)
    for i in range(n):
        for c in (2, 5):
            y, x = torch.randint(0, 14, (2,))
            mask[i, y : y + 9, x : x + 9] = c
    img = mask.unsqueeze(1) / 5 + 0.1 * torch.randn(n, 1, 24, 24)
    return img, mask


def prepare(img, mask):
    img = F.interpolate(img, size=(16, 16), mode="bilinear", align_corners=False)
    mask = F.interpolate(mask.unsqueeze(1), size=(16, 16), mode="nearest")
    return img, mask.squeeze(1).long()


net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 6, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
img, mask = scene(200)
for epoch in range(5):
    for i in torch.randperm(200).split(20):
        x, y = prepare(img[i], mask[i])
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
