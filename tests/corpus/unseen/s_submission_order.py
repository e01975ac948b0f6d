import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, confusion_matrix
from torch.utils.data import DataLoader, TensorDataset

SEED = 2024
np.random.seed(SEED)
torch.manual_seed(SEED)


def load():
    d = load_digits()
    x = d.data.astype(np.float32) / 16
    perm = np.random.permutation(len(x))
    return x[perm], d.target[perm]


def loader_of(x, y, shuffle):
    return DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=64, shuffle=shuffle)


def train(model, loader, epochs=8):
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


@torch.no_grad()
def predict(model, loader):
    model.eval()
    return torch.cat([model(x).argmax(1) for x, _ in loader]).numpy()


x, y = load()
x_train, y_train, x_test, y_test = x[:1300], y[:1300], x[1300:], y[1300:]
train_loader = loader_of(x_train, y_train, True)
test_loader = loader_of(x_test, y_test, True)

model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
train(model, train_loader)
preds = predict(model, test_loader)
print("test accuracy", round(accuracy_score(y_test, preds), 4))
print("diagonal", confusion_matrix(y_test, preds).diagonal().tolist())
