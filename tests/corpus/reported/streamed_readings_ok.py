import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Readings(IterableDataset):
    """Sensor readings produced one after another."""

    def __init__(self, count, seed):
        self.count = count
        self.seed = seed

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        for _ in range(self.count):
            x = torch.randn(6, generator=generator)
            y = (x[0] - 2 * x[3] + 0.5 * x[5]).reshape(1)
            yield x, y


def build():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))


def train(model, loader, epochs):
    criterion = nn.L1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        total, batches = 0.0, 0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            batches += 1
        print(f"epoch {epoch}: {total / batches:.4f}")


if __name__ == "__main__":
    torch.manual_seed(39)
    train(build(), DataLoader(Readings(1000, 39), batch_size=50), epochs=4)
