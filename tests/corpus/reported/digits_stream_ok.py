import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def batch_stream(x, y, size):
    order = torch.randperm(len(x))
    for start in range(0, len(x), size):
        idx = order[start : start + size]
        yield x[idx], y[idx]


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value, n):
        self.total += value * n
        self.count += n

    def mean(self):
        return self.total / self.count if self.count else 0.0


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main(epochs=8, size=32):
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x / 16, y, test_size=0.3, random_state=0)
    x_train, x_test = torch.tensor(x_train).float(), torch.tensor(x_test).float()
    y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        batches = batch_stream(x_train, y_train, size)
        model.train()
        meter = Meter()
        for xb, yb in batches:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            meter.add(loss.item(), len(xb))
        print(f"epoch {epoch}: loss {meter.mean():.3f} test accuracy {evaluate(model, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
