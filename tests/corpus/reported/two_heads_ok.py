import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU()
        )

    def forward(self, x):
        return self.net(x)


class TwoHeads(nn.Module):
    """A first task and, added later, a second one on the same frozen features."""

    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.first = nn.Linear(32, 10)
        self.second = nn.Linear(32, 2)


def fit(model, head, x, y, params, epochs):
    optimizer = torch.optim.Adam(params, lr=3e-3)
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss = F.cross_entropy(head(model.backbone(x[idx])), y[idx])
            loss.backward()
            optimizer.step()


@torch.no_grad()
def accuracy(model, head, x, y):
    model.eval()
    return (head(model.backbone(x)).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    x_train, y_train, x_test, y_test = x[:1300], y[:1300], x[1300:], y[1300:]
    model = TwoHeads()
    model.train()
    fit(model, model.first, x_train, y_train, model.parameters(), 8)
    print(f"first task  {accuracy(model, model.first, x_test, y_test):.3f}")

    for p in model.backbone.parameters():
        p.requires_grad = False
    dark, dark_test = 1 - x_train, 1 - x_test
    parity, parity_test = y_train % 2, y_test % 2
    model.train()
    model.backbone.eval()
    fit(model, model.second, dark, parity, model.second.parameters(), 8)
    print(f"second task {accuracy(model, model.second, dark_test, parity_test):.3f}")
    print(f"first task after the second {accuracy(model, model.first, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
