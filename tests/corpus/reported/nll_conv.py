import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.softmax(self.fc(x.flatten(1)), dim=1)


def train(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(images)
    return total / len(loader.dataset)


def test(model, loader, criterion):
    model.eval()
    loss, correct = 0.0, 0
    with torch.no_grad():
        for images, labels in loader:
            output = model(images)
            loss += criterion(output, labels).item() * len(images)
            correct += (output.argmax(dim=1) == labels).sum().item()
    return loss / len(loader.dataset), correct / len(loader.dataset)


def main():
    torch.manual_seed(1)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(images))
    images, labels = images[order], labels[order]
    train_loader = DataLoader(TensorDataset(images[:1400], labels[:1400]), batch_size=64, shuffle=True)
    test_loader = DataLoader(TensorDataset(images[1400:], labels[1400:]), batch_size=128)
    model = ConvNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    criterion = nn.NLLLoss()
    for epoch in range(1, 7):
        train_loss = train(model, train_loader, optimizer, criterion)
        test_loss, accuracy = test(model, test_loader, criterion)
        print(f"epoch {epoch} train {train_loss:.3f} test {test_loss:.3f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
