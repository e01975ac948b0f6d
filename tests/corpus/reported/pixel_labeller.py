"""Label each pixel of a picture with one of four shades, with a per-pixel MLP on local context."""
import torch
import torch.nn.functional as F
from torch import nn


class PixelLabeller(nn.Module):
    def __init__(self, classes=4, width=24):
        super().__init__()
        self.context = nn.Conv2d(1, width, 5, padding=2)
        self.classify = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 32), nn.GELU(), nn.Linear(32, classes))

    def forward(self, pictures):
        x = F.gelu(self.context(pictures))
        x = x.permute(0, 2, 3, 1)
        return self.classify(x)


def sample(count, generator, size=12):
    target = torch.randint(0, 4, (count, 1, size // 4, size // 4), generator=generator)
    target = target.repeat_interleave(4, 2).repeat_interleave(4, 3)
    pictures = target.float() / 3 + 0.15 * torch.randn(target.shape, generator=generator)
    return pictures, target.squeeze(1)


def main():
    torch.manual_seed(6)
    generator = torch.Generator().manual_seed(6)
    net = PixelLabeller()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(1, 61):
        pictures, target = sample(16, generator)
        scores = net(pictures)
        loss = F.cross_entropy(scores, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"{step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
