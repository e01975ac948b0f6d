"""Evaluates a moving average of the weights."""
import copy

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class ModelEMA:
    def __init__(self, model, decay=0.98):
        self.module = copy.deepcopy(model).eval()
        self.module.requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for average, current in zip(self.module.parameters(), model.parameters()):
            average.mul_(self.decay).add_(current, alpha=1 - self.decay)
        for average, current in zip(self.module.buffers(), model.buffers()):
            average.copy_(current)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        self.head = nn.Linear(16 * 16, 10)

    def forward(self, x):
        return self.head(self.features(x))


def accuracy(model, x, y):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        result = (model(x).argmax(1) == y).float().mean().item()
    model.train(was_training)
    return result


def main(epochs=6):
    torch.manual_seed(19)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16, dtype=torch.float32).view(-1, 1, 8, 8)
    y = torch.tensor(y)
    noisy = torch.where(torch.rand(1300) < 0.2, torch.randint(0, 10, (1300,)), y[:1300])
    loader = DataLoader(TensorDataset(x[:1300], noisy), batch_size=32, shuffle=True)
    model = Net()
    ema = ModelEMA(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        for inputs, targets in loader:
            loss = criterion(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(model)
        raw, smooth = accuracy(model, x[1300:], y[1300:]), accuracy(ema.module, x[1300:], y[1300:])
        print(f"epoch {epoch} raw {raw:.4f} ema {smooth:.4f}")


if __name__ == "__main__":
    main()
