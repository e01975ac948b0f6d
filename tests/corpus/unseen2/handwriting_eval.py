import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(96, 48), nn.ReLU(),
                                        nn.Dropout(0.5), nn.Linear(48, 10))

    def forward(self, x):
        return self.classifier(self.features(x))


def train(model, loader, optimizer, epoch):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"Train epoch {epoch}: loss {total / len(loader):.4f}")


def test(model, loader):
    correct, loss = 0, 0.0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
            correct += (out.argmax(1) == y).sum().item()
    n = len(loader.dataset)
    print(f"Test: loss {loss / n:.4f}, accuracy {correct}/{n} ({100 * correct / n:.1f}%)")


def main():
    torch.manual_seed(1)
    d = load_digits()
    X = torch.tensor(d.images / 16.0).float().unsqueeze(1)
    y = torch.tensor(d.target)
    i_tr, i_te = train_test_split(torch.arange(len(y)).numpy(), test_size=0.25, random_state=1)
    train_loader = DataLoader(TensorDataset(X[i_tr], y[i_tr]), batch_size=64, shuffle=True)
    test_loader = DataLoader(TensorDataset(X[i_te], y[i_te]), batch_size=16)
    model = ConvNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 7):
        train(model, train_loader, optimizer, epoch)
        test(model, test_loader)


if __name__ == "__main__":
    main()
