import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(24, 10)

    def forward(self, x):
        return self.fc(self.drop(self.block(x).flatten(1)))


def train_one_epoch(model, loader, criterion, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


def validate(model, loader, criterion):
    model.eval()
    total, hits = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            total += criterion(out, y).item() * len(x)
            hits += (out.argmax(1) == y).sum().item()
    return total / len(loader.dataset), hits / len(loader.dataset)


def main():
    torch.manual_seed(0)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(digits.target)
    train_loader = DataLoader(TensorDataset(x[:1300], y[:1300]), batch_size=50, shuffle=True)
    val_loader = DataLoader(TensorDataset(x[1300:], y[1300:]), batch_size=250)
    model = Net()
    model.train()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        train_loss = train_one_epoch(model, train_loader, criterion, optimizer)
        val_loss, val_acc = validate(model, val_loader, criterion)
        print(f"epoch {epoch} train {train_loss:.3f} val {val_loss:.3f} acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
