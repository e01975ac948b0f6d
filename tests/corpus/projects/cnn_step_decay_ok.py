"""A small CNN on digits with SGD and a step decay every four epochs."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset, random_split


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def get_loaders(batch_size):
    x, y = load_digits(return_X_y=True)
    images = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    dataset = TensorDataset(images, torch.tensor(y))
    train, test = random_split(dataset, [1500, len(dataset) - 1500])
    return DataLoader(train, batch_size, shuffle=True), DataLoader(test, 256)


def train(model, loader, optimizer, scheduler, epoch):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch}: loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.2e}")


def test(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in loader:
            correct += (model(data).argmax(dim=1) == target).sum().item()
    print(f"Accuracy: {correct}/{len(loader.dataset)}")


def main():
    torch.manual_seed(1)
    train_loader, test_loader = get_loaders(50)
    model = SmallCNN()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = StepLR(optimizer, step_size=4, gamma=0.3)
    for epoch in range(8):
        train(model, train_loader, optimizer, scheduler, epoch)
        scheduler.step()
        test(model, test_loader)


if __name__ == "__main__":
    main()
