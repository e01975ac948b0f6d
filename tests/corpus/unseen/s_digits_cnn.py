import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class DigitNet(nn.Module):
    def __init__(self, n_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(24 * 2 * 2, 48)
        self.fc2 = nn.Linear(48, n_classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = x.flatten(1)
        x = torch.relu(self.fc1(x))
        return torch.softmax(self.fc2(x), dim=1)


data = load_digits()
X = (data.images / 16.0).astype(np.float32)[:, None]
y = data.target.astype(np.int64)
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
train_dl = DataLoader(TensorDataset(torch.tensor(Xtr), torch.tensor(ytr)), batch_size=64, shuffle=True)
test_dl = DataLoader(TensorDataset(torch.tensor(Xte), torch.tensor(yte)), batch_size=128)

model = DigitNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(6):
    model.train()
    total = 0.0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            correct += (model(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch} loss {total / len(train_dl):.4f} test acc {correct / len(yte):.4f}")
