import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts

torch.manual_seed(3)
d = load_digits()
X = torch.tensor(d.data / 16.0, dtype=torch.float32)
y = torch.tensor(d.target)
X_train, y_train, X_test, y_test = X[:1300], y[:1300], X[1300:], y[1300:]

model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, nesterov=True)
scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2, eta_min=1e-3)
snapshots = []
restart_epochs = {1, 5, 13}
batches = X_train.shape[0] // 65

for epoch in range(14):
    model.train()
    perm = torch.randperm(len(X_train))
    for i in range(batches):
        idx = perm[i * 65:(i + 1) * 65]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        scheduler.step(epoch + (i + 1) / batches)
    model.eval()
    with torch.no_grad():
        acc = (model(X_test).argmax(1) == y_test).float().mean().item()
    if epoch in restart_epochs:
        snapshots.append(copy.deepcopy(model))
        print(f"epoch {epoch} snapshot, acc {acc:.4f} next lr {scheduler.get_last_lr()[0]:.4f}")

with torch.no_grad():
    mean = torch.stack([m(X_test).softmax(1) for m in snapshots]).mean(0)
print("snapshot ensemble accuracy", (mean.argmax(1) == y_test).float().mean().item())
