import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X / 16.0, dtype=torch.float32)
y = torch.tensor(y)

shuffled = torch.randperm(len(X), generator=torch.Generator().manual_seed(99))
test_idx, train_idx = shuffled[:300], shuffled[300:]

train_ds = TensorDataset(X[train_idx], y[train_idx])
test_ds = TensorDataset(X[test_idx], y[test_idx])
train_loader = DataLoader(train_ds, batch_size=100, shuffle=True)
test_loader = DataLoader(test_ds, batch_size=100)

model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = ce(model(xb), yb)
        loss.backward()
        opt.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            correct += (model(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch} loss {loss.item():.5f} test accuracy {correct / len(test_ds):.4f}")
