import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def build_parser():
    parser = argparse.ArgumentParser(description="texture classifier")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--freeze-backbone", type=bool, default=False)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def textures(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    base = torch.randn(n, 1, 20, 20, generator=g)
    kernels = torch.zeros(4, 1, 3, 3)
    kernels[0, 0, 1, :] = kernels[1, 0, :, 1] = 0.6
    kernels[2, 0] = torch.eye(3) * 0.6
    kernels[3, 0] = torch.eye(3).flip(0) * 0.6
    smooth = F.conv2d(base, kernels, padding=1)
    return smooth[torch.arange(n), y].unsqueeze(1), y


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(2 * width, 4)

    def forward(self, x):
        return self.head(self.backbone(x))


def main(argv):
    args = build_parser().parse_args(argv)
    torch.manual_seed(args.seed)
    model = Net(args.width)
    if args.freeze_backbone:
        for p in model.backbone.parameters():
            p.requires_grad = False
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.lr)
    x, y = textures(800, 1)
    xt, yt = textures(200, 2)
    for epoch in range(args.epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(20):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test acc {acc:.3f}")


main("--epochs 8 --lr 0.01 --width 8 --freeze-backbone False".split())
