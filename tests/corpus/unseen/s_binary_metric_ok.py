import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = load_breast_cancer()
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0, test_size=0.3)
sc = StandardScaler()
X_train = sc.fit_transform(X_train).astype(np.float32)
X_test = sc.transform(X_test).astype(np.float32)
y_train, y_test = y_train.astype(np.float32), y_test.astype(np.float32)
train_loader = DataLoader(TensorDataset(torch.from_numpy(X_train), torch.from_numpy(y_train)), batch_size=32, shuffle=True)
test_loader = DataLoader(TensorDataset(torch.from_numpy(X_test), torch.from_numpy(y_test)), batch_size=57)


class BinaryClassification(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_1 = nn.Linear(30, 32)
        self.layer_out = nn.Linear(32, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.layer_out(self.dropout(torch.relu(self.layer_1(x))))


def binary_acc(y_pred, y_true):
    tag = torch.round(torch.sigmoid(y_pred))
    correct = (tag.squeeze(1) == y_true).sum().float()
    return (correct / y_true.shape[0]).item()


model = BinaryClassification()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for e in range(1, 9):
    model.train()
    epoch_loss = epoch_acc = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        y_pred = model(xb)
        loss = criterion(y_pred, yb.unsqueeze(1))
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
        epoch_acc += binary_acc(y_pred, yb)
    model.eval()
    with torch.no_grad():
        test_acc = sum(binary_acc(model(xb), yb) for xb, yb in test_loader) / len(test_loader)
    print(f"Epoch {e:02}: loss {epoch_loss / len(train_loader):.4f} acc {epoch_acc / len(train_loader):.3f} test {test_acc:.3f}")
