import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class IrisDataset(Dataset):
    def __init__(self, features, targets):
        self.features = features.astype(np.float32)
        self.targets = targets.astype(np.int64)

    def __len__(self):
        return len(self.features)

    def __getitem__(self, idx):
        return torch.from_numpy(self.features[idx]), torch.tensor(self.targets[idx])


class IrisNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, loader, optimizer):
    model.train()
    total = 0.0
    for features, targets in loader:
        optimizer.zero_grad()
        output = model(features)
        loss = F.nll_loss(output, targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * features.size(0)
    return total / len(loader.dataset)


def test(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for features, targets in loader:
            correct += model(features).argmax(dim=1).eq(targets).sum().item()
    return correct / len(loader.dataset)


if __name__ == "__main__":
    set_seed(0)
    X, y = load_iris(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    mu, sd = X_tr.mean(axis=0), X_tr.std(axis=0)
    train_loader = DataLoader(IrisDataset((X_tr - mu) / sd, y_tr), batch_size=15, shuffle=True)
    test_loader = DataLoader(IrisDataset((X_te - mu) / sd, y_te), batch_size=15)
    model = IrisNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, 11):
        print(f"Train epoch {epoch}: {train(model, train_loader, optimizer):.6f}")
    print(f"Test accuracy: {test(model, test_loader):.4f}")
