import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

d = load_digits()
Xtr, Xte, ytr, yte = train_test_split(d.images[:900] / 16.0, d.target[:900], test_size=0.2, random_state=0)
make = lambda X, y: TensorDataset(torch.tensor(X, dtype=torch.float32).unsqueeze(1), torch.tensor(y))
train_loader = DataLoader(make(Xtr, ytr), batch_size=48, shuffle=True)
test_loader = DataLoader(make(Xte, yte), batch_size=48)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(12)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(24)
        self.dropout = nn.Dropout(0.4)
        self.fc = nn.Linear(24 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(self.dropout(x.flatten(1)))


def train(model, loader, optimizer):
    model.train()
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
    return loss.item()


def test(model, loader):
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.cross_entropy(output, target, reduction="sum").item()
            correct += (output.argmax(dim=1) == target).sum().item()
    return test_loss / len(loader.dataset), correct / len(loader.dataset)


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(1, 5):
    last = train(model, train_loader, optimizer)
    test_loss, acc = test(model, test_loader)
    print(f"Epoch {epoch}: train {last:.5f} | test {test_loss:.5f} | acc {acc:.4f}")
