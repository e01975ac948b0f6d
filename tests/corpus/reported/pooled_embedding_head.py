"""Global average pooling classifier on digit images."""
import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GapNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.gap = nn.AdaptiveAvgPool2d(1)
        self.out = nn.Linear(2 * width, 10)

    def forward(self, images):
        pooled = self.gap(self.body(images)).squeeze()
        return self.out(pooled)


def run_epoch(model, loader, criterion, optimizer):
    model.train()
    seen, total = 0, 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        seen += labels.size(0)
        total += loss.item() * labels.size(0)
    return total / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--width", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(1)
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    data = TensorDataset(images[:1281], torch.tensor(labels[:1281]))
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    model = GapNet(args.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        print(epoch, round(run_epoch(model, loader, nn.CrossEntropyLoss(), optimizer), 4))


if __name__ == "__main__":
    main()
