"""One trunk, two heads: the area of a rectangle and whether it is tall."""
import torch
import torch.nn.functional as F
from torch import nn


class TwoHeads(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.area = nn.Linear(width, 1)
        self.kind = nn.Linear(width, 2)

    def forward(self, sides):
        hidden = self.trunk(sides)
        return self.area(hidden).squeeze(1), self.kind(hidden)


def rectangles(count):
    sides = torch.rand(count, 2)
    return sides, sides.prod(dim=1), (sides[:, 1] > sides[:, 0]).long()


def main():
    torch.manual_seed(50)
    model = TwoHeads()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(200):
        sides, area, kind = rectangles(64)
        area_hat, kind_hat = model(sides)
        area_loss = F.mse_loss(area_hat, area)
        kind_loss = F.cross_entropy(kind_hat, kind)
        total = area_loss + kind_loss
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} total {total.item():.4f}")


if __name__ == "__main__":
    main()
