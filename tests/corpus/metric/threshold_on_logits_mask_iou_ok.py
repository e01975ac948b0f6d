import torch
from torch import nn
import torch.nn.functional as F


def disks(n, seed, size=16):
    gen = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = torch.randint(3, size - 3, (n, 2, 1, 1), generator=gen)
    r = torch.randint(2, 5, (n, 1, 1), generator=gen)
    mask = ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2 <= r ** 2).float().unsqueeze(1)
    return mask + 0.5 * torch.randn(n, 1, size, size, generator=gen), mask


class SegTrainer:
    def __init__(self, lr=1e-2):
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def fit(self, x, m, vx, vm, epochs):
        for epoch in range(1, epochs + 1):
            self.net.train()
            for idx in torch.randperm(len(x)).split(16):
                self.opt.zero_grad()
                loss = F.binary_cross_entropy_with_logits(self.net(x[idx]), m[idx])
                loss.backward()
                self.opt.step()
            print(f"epoch {epoch} loss {loss.item():.5f} IoU {self.iou(vx, vm):.4f}")

    @torch.no_grad()
    def iou(self, x, m):
        self.net.eval()
        found = self.net(x).sigmoid() >= 0.5
        truth = m.bool()
        return ((found & truth).sum() / (found | truth).sum().clamp(min=1)).item()


torch.manual_seed(0)
SegTrainer().fit(*disks(64, 0), *disks(24, 1), epochs=8)
