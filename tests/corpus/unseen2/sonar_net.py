import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)

X, y = make_classification(n_samples=713, n_features=20, n_informative=10, n_classes=2, class_sep=1.2, random_state=4)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)
train_ds = TensorDataset(X[:513], y[:513])
test_ds = TensorDataset(X[513:], y[513:])

train_loader = DataLoader(train_ds, batch_size=64, shuffle=True)
test_loader = DataLoader(test_ds, batch_size=64)


class SonarNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(),
        )
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


net = SonarNet()
bce = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(6):
    net.train()
    train_loss = 0.0
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = bce(net(xb), yb)
        loss.backward()
        opt.step()
        train_loss += loss.item()
    net.eval()
    right = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            right += ((net(xb) > 0) == yb.bool()).sum().item()
    print(f"epoch {epoch}: loss {train_loss / len(train_loader):.4f}, test acc {right / len(test_ds):.3f}")
