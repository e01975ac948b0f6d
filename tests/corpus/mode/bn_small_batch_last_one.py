import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_iris

torch.manual_seed(0)
X, y = load_iris(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y)
perm = torch.randperm(150)
train_idx, test_idx = perm[:113], perm[113:]
mean, std = X[train_idx].mean(0), X[train_idx].std(0)
X = (X - mean) / std

loader = DataLoader(TensorDataset(X[train_idx], y[train_idx]), batch_size=16, shuffle=True)

model = nn.Sequential(
    nn.Linear(4, 16),
    nn.BatchNorm1d(16),
    nn.ReLU(),
    nn.Linear(16, 3),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")

model.eval()
with torch.no_grad():
    accuracy = (model(X[test_idx]).argmax(1) == y[test_idx]).float().mean()
print(f"test accuracy {accuracy.item():.4f}")
