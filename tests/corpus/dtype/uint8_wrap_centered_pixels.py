import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


def get_data(n_train):
    digits = load_digits()
    pixels = torch.tensor(digits.images * 15.9).to(torch.uint8)    # 8 bit grey
    target = torch.tensor(digits.target)
    order = torch.randperm(len(pixels), generator=torch.Generator().manual_seed(0))
    pixels, target = pixels[order], target[order]
    return (pixels[:n_train], target[:n_train]), (pixels[n_train:n_train + 300], target[n_train:n_train + 300])


def preprocess(img):
    img = (img - 128).float()
    return img.flatten(1) / 128


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Linear(64, width)
        self.b = nn.Linear(width, 10)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    torch.manual_seed(0)
    (x, y), (vx, vy) = get_data(700)
    model = MLP(args.width)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(70):
            opt.zero_grad()
            loss = F.cross_entropy(model(preprocess(x[idx])), y[idx])
            loss.backward()
            opt.step()
            total += loss.item() / 10
        with torch.no_grad():
            acc = (model(preprocess(vx)).argmax(-1) == vy).float().mean().item()
        print(f"epoch {epoch + 1} loss {total:.6f} val_acc {acc:.4f}")


if __name__ == "__main__":
    main()
