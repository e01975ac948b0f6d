import torch
from sklearn.datasets import make_blobs
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = make_blobs(n_samples=900, centers=5, n_features=6, cluster_std=2.5, random_state=0)
X = torch.tensor(X, dtype=torch.float32) / 10
y = torch.tensor(y)
train_set = TensorDataset(X[:700], y[:700])


def next_batch():
    loader = DataLoader(train_set, batch_size=32, shuffle=True, drop_last=True)
    return next(iter(loader))


clf = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(clf.parameters(), lr=1e-2)
for it in range(1, 101):
    xb, yb = next_batch()
    loss = nn.functional.cross_entropy(clf(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 25 == 0:
        with torch.no_grad():
            acc = (clf(X[700:]).argmax(1) == y[700:]).float().mean().item()
        print(f"iter {it} loss {loss.item():.6f} acc {acc:.4f}")
