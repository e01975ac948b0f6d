import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CHANNELS, LENGTH, CLASSES = 5, 32, 4


def record(n, seed):
    """Windows of shape [n, time, channel]; the class is the sensor that oscillates."""
    g = torch.Generator().manual_seed(seed)
    x = 0.7 * torch.randn(n, LENGTH, CHANNELS, generator=g)
    y = torch.randint(CLASSES, (n,), generator=g)
    t = torch.arange(LENGTH, dtype=torch.float32)
    speed = 0.3 + 0.5 * torch.rand(n, 1, generator=g)
    wave = torch.sin(speed * t + 6.28 * torch.rand(n, 1, generator=g))
    x[torch.arange(n), :, y] += wave
    return x, y


class SensorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(CHANNELS, 16, 5, padding=2), nn.ReLU(), nn.Conv1d(16, 16, 5, padding=2), nn.ReLU()
        )
        self.fc = nn.Linear(16, CLASSES)

    def forward(self, x):
        x = x.transpose(1, 2)
        return self.fc(self.conv(x).mean(dim=2))


def accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def main():
    torch.manual_seed(0)
    train = DataLoader(TensorDataset(*record(700, 0)), batch_size=50, shuffle=True)
    test = DataLoader(TensorDataset(*record(300, 1)), batch_size=100)
    model = SensorNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(10):
        model.train()
        for x, y in train:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} accuracy {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
