import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class ModelEma:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.module = copy.deepcopy(model).eval()
        self.module.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for averaged, current in zip(self.module.parameters(), model.parameters()):
            averaged.lerp_(current, 1 - self.decay)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(x.mean(dim=(2, 3)))


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(dim=1) == y).float().mean().item()


def main():
    torch.manual_seed(1)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(digits.target)
    x_train, y_train, x_test, y_test = x[:1300], y[:1300], x[1300:], y[1300:]
    model = Net()
    ema = ModelEma(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(5):
        model.train()
        for idx in torch.randperm(len(x_train)).split(50):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
            loss.backward()
            optimizer.step()
            ema.update(model)
        raw, averaged = accuracy(model, x_test, y_test), accuracy(ema.module, x_test, y_test)
        print(f"epoch {epoch}: raw {raw:.3f} averaged {averaged:.3f}")


if __name__ == "__main__":
    main()
