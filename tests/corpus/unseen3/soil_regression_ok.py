import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_regression
from sklearn.preprocessing import StandardScaler

torch.manual_seed(0)
X, y = make_regression(n_samples=500, n_features=8, noise=5.0, random_state=0)
X = StandardScaler().fit_transform(X)
y = (y - y.mean()) / y.std()
split = 400

X_train, X_test = torch.from_numpy(X[:split]).float(), torch.from_numpy(X[split:]).float()
y_train, y_test = torch.from_numpy(y[:split]).float(), torch.from_numpy(y[split:]).float()

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    perm = torch.randperm(split)
    for idx in perm.split(40):
        pred = model(X_train[idx]).squeeze(1)
        loss = nn.functional.mse_loss(pred, y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch} mse {loss.item():.4f}")
with torch.no_grad():
    mse = nn.functional.mse_loss(model(X_test).squeeze(1), y_test).item()
print("test r2", round(1 - mse / np.var(y[split:]), 3))
