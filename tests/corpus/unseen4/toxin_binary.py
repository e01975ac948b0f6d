import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(36)
X, y = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(36)
order = rng.permutation(len(X))
X, y = X[order], y[order]
mean, std = X[:400].mean(0), X[:400].std(0)
X = torch.tensor((X - mean) / std, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32).unsqueeze(1)


class ToxinNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(30, 16), nn.ReLU())
        self.out = nn.Linear(16, 1)
        self.act = nn.Softmax(dim=1)

    def forward(self, x):
        return self.act(self.out(self.hidden(x)))


net = ToxinNet()
loss_fn = nn.BCELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(X[:400], y[:400]), batch_size=20, shuffle=True)
for epoch in range(10):
    losses, hits = [], 0
    for xb, yb in loader:
        optimizer.zero_grad()
        out = net(xb)
        loss = loss_fn(out, yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        hits += ((out > 0.5).float() == yb).sum().item()
    if epoch % 3 == 0:
        print(f"epoch {epoch}: loss {np.mean(losses):.4f} acc {hits / 400:.3f}")
with torch.no_grad():
    print("test acc", ((net(X[400:]) > 0.5).float() == y[400:]).float().mean().item())
