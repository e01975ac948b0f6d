"""Iris species with a two layer network."""
import torch
import torch.nn as nn
from sklearn.datasets import load_iris

torch.manual_seed(0)
EPOCHS, BATCH = 60, 16


def standardize(train, *others):
    mean, std = train.mean(dim=0), train.std(dim=0)
    return [(part - mean) / std for part in (train, *others)]


def load_split(n_train=110):
    x, y = load_iris(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32)
    y = torch.tensor(y)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    x_train, x_test = standardize(x[:n_train], x[n_train:])
    return x_train, y[:n_train], x_test, y[n_train:]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


x_train, y_train, x_test, y_test = load_split()
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(EPOCHS):
    model.train()
    x_epoch = x_train[torch.randperm(len(x_train))]
    y_epoch = y_train[torch.randperm(len(y_train))]
    for start in range(0, len(x_epoch), BATCH):
        xb, yb = x_epoch[start : start + BATCH], y_epoch[start : start + BATCH]
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    if (epoch + 1) % 15 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} test accuracy {acc:.3f}")
