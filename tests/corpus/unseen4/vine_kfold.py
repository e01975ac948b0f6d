import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import StratifiedKFold

np.random.seed(20)
torch.manual_seed(20)
n, d = 300, 30
X = np.random.randn(n, d).astype(np.float32)
y = ((X[:, 0] + X[:, 1] + 2.0 * np.random.randn(n)) > 0).astype(np.int64)


def make_model():
    return nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 2))


def train(model, optimizer, xt, yt, epochs=25):
    model.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(xt)).split(32):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xt[idx]), yt[idx])
            loss.backward()
            optimizer.step()
    return loss.item()


kfold = StratifiedKFold(n_splits=5, shuffle=True, random_state=20)
scores = []
model = make_model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for fold, (tr, va) in enumerate(kfold.split(X, y)):
    xt, yt = torch.from_numpy(X[tr]), torch.from_numpy(y[tr])
    xv, yv = torch.from_numpy(X[va]), torch.from_numpy(y[va])
    loss = train(model, optimizer, xt, yt)
    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    scores.append(acc)
    print(f"fold {fold}: loss {loss:.4f} val acc {acc:.3f}")
print(f"cross-validated accuracy {np.mean(scores):.3f} +/- {np.std(scores):.3f}")
