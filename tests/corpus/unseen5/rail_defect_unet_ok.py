"""Tiny U-Net that segments cracks on rail surface crops."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class MiniUNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.d1 = block(1, width)
        self.d2 = block(width, width * 2)
        self.mid = block(width * 2, width * 4)
        self.u2 = block(width * 6, width * 2)
        self.u1 = block(width * 3, width)
        self.head = nn.Conv2d(width, 1, 1)

    @staticmethod
    def up(x, skip):
        x = F.interpolate(x, size=skip.shape[-2:], mode="nearest")
        return torch.cat([x, skip], dim=1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        y = self.u2(self.up(c, b))
        y = self.u1(self.up(y, a))
        return self.head(y)


def sample_crops(n, size=50):
    img = torch.randn(n, 1, size, size) * 0.3
    mask = torch.zeros(n, 1, size, size)
    for i in range(n):
        r = int(torch.randint(4, size - 6, (1,)))
        mask[i, 0, r:r + 3, 5:size - 5] = 1
    return img + mask, mask


def dice(p, m):
    p = (p > 0).float()
    return (2 * (p * m).sum() / (p.sum() + m.sum() + 1e-6)).item()


torch.manual_seed(0)
net = MiniUNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for it in range(25):
    x, m = sample_crops(8)
    loss = F.binary_cross_entropy_with_logits(net(x), m)
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
with torch.no_grad():
    x, m = sample_crops(16)
    print("dice", dice(net(x), m))
