import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Blobs(Dataset):
    """Segment bright discs on a noisy 16x16 background."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
        c = torch.rand(n, 2, 1, 1, generator=g) * 10 + 3
        r = torch.rand(n, 1, 1, generator=g) * 2 + 2
        self.mask = (((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) < r ** 2).float()
        self.image = self.mask * 0.8 + 0.3 * torch.randn(n, 16, 16, generator=g)

    def __len__(self):
        return len(self.mask)

    def __getitem__(self, i):
        return self.image[i][None], self.mask[i][None]


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU())


class MiniUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.mid, self.up = block(1, 8), block(8, 16), block(24, 8)
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(16, 16, 1, bias=False), nn.BatchNorm2d(16), nn.Sigmoid())
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.mid(F.max_pool2d(a, 2))
        b = b * self.pool(b)
        return self.out(self.up(torch.cat([a, F.interpolate(b, scale_factor=2)], dim=1)))


torch.manual_seed(0)
train = DataLoader(Blobs(128, 0), batch_size=2, shuffle=True)
val = DataLoader(Blobs(32, 1), batch_size=32)
net = MiniUNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(3):
    net.train()
    for x, m in train:
        loss = F.binary_cross_entropy_with_logits(net(x), m)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        v = sum(F.binary_cross_entropy_with_logits(net(x), m).item() for x, m in val) / len(val)
    print(f"epoch {epoch} train {loss.item():.5f} val {v:.5f}")
