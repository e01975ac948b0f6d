import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

torch.manual_seed(80)
X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = X[:350], X[350:], y[:350], y[350:]
xs, ys = StandardScaler().fit(X_train), StandardScaler().fit(y_train[:, None])
X_train, X_test = [torch.tensor(xs.transform(a), dtype=torch.float32) for a in (X_train, X_test)]
y_train, y_test = [torch.tensor(ys.transform(a[:, None]), dtype=torch.float32) for a in (y_train, y_test)]


def rmsle_like(pred, target):
    diff = torch.abs(pred - target)
    value = torch.where(diff < 1.0, 0.5 * diff ** 2, diff - 0.5).mean()
    return value


model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(40):
    model.train()
    losses = []
    for idx in torch.randperm(350).split(35):
        optimizer.zero_grad()
        loss = rmsle_like(model(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 10 == 9:
        print("epoch", epoch + 1, "loss", np.mean(losses))
model.eval()
with torch.no_grad():
    print("test loss", rmsle_like(model(X_test), y_test).item())
