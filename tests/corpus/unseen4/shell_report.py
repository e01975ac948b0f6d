import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(18)
X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split((X / 16).astype(np.float32), y, test_size=0.25, random_state=18)


def to_loader(X, y, shuffle):
    return DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(y)), batch_size=32, shuffle=shuffle)


train_loader = to_loader(X_train, y_train, shuffle=True)
test_loader = to_loader(X_test, y_test, shuffle=True)

model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch} loss {running / len(train_loader):.4f}")

model.eval()
predictions = []
with torch.no_grad():
    for xb, _ in test_loader:
        predictions.extend(model(xb).argmax(1).tolist())
print("accuracy", accuracy_score(y_test, predictions))
print("macro f1", f1_score(y_test, predictions, average="macro"))
