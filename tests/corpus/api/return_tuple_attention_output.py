import torch
from torch import nn, optim
from torch.nn import functional as F


class PointCloudNet(nn.Module):
    def __init__(self, dim=32, heads=4, n_classes=3):
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.cls = nn.Linear(dim, n_classes)

    def forward(self, pts):
        x = self.embed(pts)
        a = self.attn(x, x, x)
        x = self.norm(x + a)
        return self.cls(x.amax(dim=1))


def shapes(n, k=16):
    """Circle, line or blob of k points."""
    y = torch.randint(0, 3, (n,))
    t = torch.rand(n, k)
    circle = torch.stack([(6.2832 * t).cos(), (6.2832 * t).sin()], -1)
    line = torch.stack([2 * t - 1, 2 * t - 1], -1)
    blob = 0.5 * torch.randn(n, k, 2)
    pts = torch.stack([circle, line, blob])[y, torch.arange(n)]
    return pts + 0.05 * torch.randn(n, k, 2), y


def train(steps=60, device="cuda" if torch.cuda.is_available() else "cpu"):
    torch.manual_seed(87)
    net = PointCloudNet().to(device)
    opt = optim.Adam(net.parameters(), lr=3e-3)
    for step in range(steps):
        pts, y = shapes(32)
        pts, y = pts.to(device), y.to(device)
        loss = F.cross_entropy(net(pts), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 12 == 0:
            print(f"step {step:3d}  ce {loss.item():.5f}")


train()
