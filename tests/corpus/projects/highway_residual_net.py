"""A residual MLP with gates."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        update = torch.tanh(self.value(x)) * gate
        gate.mul_(-1).add_(1)
        return update + x * gate


class Highway(nn.Module):
    def __init__(self, width=64, depth=3):
        super().__init__()
        self.layers = nn.ModuleList([Gate(width) for _ in range(depth)])
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


class Meter:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(float(value))

    def mean(self):
        return sum(self.values) / len(self.values)


def run_epoch(model, optimizer, x, y):
    meter = Meter()
    criterion = nn.CrossEntropyLoss()
    for rows in torch.randperm(len(x)).split(64):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.add(loss.detach())
    return meter.mean()


def main():
    torch.manual_seed(1)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    model = Highway()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        print(f"epoch {epoch} loss {run_epoch(model, optimizer, x[:1400], y[:1400]):.4f}")
    with torch.no_grad():
        print(f"test {(model(x[1400:]).argmax(1) == y[1400:]).float().mean():.4f}")


if __name__ == "__main__":
    main()
