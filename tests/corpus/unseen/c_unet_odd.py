import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
CROP = 30


def double_conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.ReLU(), nn.Conv2d(o, o, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, base=6):
        super().__init__()
        self.d1 = double_conv(1, base)
        self.d2 = double_conv(base, 2 * base)
        self.mid = double_conv(2 * base, 4 * base)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(4 * base, 2 * base, 2, stride=2)
        self.u2 = double_conv(4 * base, 2 * base)
        self.up1 = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.u1 = double_conv(2 * base, base)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        m = self.mid(self.pool(b))
        y = self.u2(torch.cat([self.up2(m), b], 1))
        y = self.u1(torch.cat([self.up1(y), a], 1))
        return self.out(y)


def cells(n, size=36):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    masks = torch.zeros(n, 1, size, size)
    for i in range(n):
        for _ in range(3):
            cy, cx = torch.randint(4, size - 4, (2,)).tolist()
            masks[i, 0][((yy - cy) ** 2 + (xx - cx) ** 2) < 16] = 1
    return masks + 0.5 * torch.randn_like(masks), masks


def random_crop(img, mask):
    r = torch.randint(0, img.size(2) - CROP + 1, (2,)).tolist()
    sl = (..., slice(r[0], r[0] + CROP), slice(r[1], r[1] + CROP))
    return img[sl], mask[sl]


imgs, masks = cells(64)
model = UNet()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for step in range(60):
    idx = torch.randint(0, 64, (8,))
    x, m = random_crop(imgs[idx], masks[idx])
    loss = F.binary_cross_entropy_with_logits(model(x), m)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 15 == 0:
        print(f"step {step} bce {loss.item():.4f}")
print("last", loss.item())
