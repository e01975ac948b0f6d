"""Small convnet on the 8x8 digits."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


def main():
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
    labels = torch.tensor(digits.target)
    train_idx, test_idx = train_test_split(range(len(labels)), test_size=0.2, random_state=0, stratify=digits.target)
    train_loader = DataLoader(TensorDataset(images[train_idx], labels[train_idx]), batch_size=64, shuffle=True)
    net = DigitNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(5):
        net.train()
        running = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
        net.eval()
        with torch.no_grad():
            accuracy = (net(images[test_idx]).argmax(1) == labels[test_idx]).float().mean().item()
        print(f"epoch {epoch} loss {running / len(train_idx):.3f} test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
