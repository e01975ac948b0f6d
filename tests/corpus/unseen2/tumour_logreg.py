import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

np.random.seed(18)
torch.manual_seed(18)

raw = load_breast_cancer()
X, y = raw.data.astype(np.float32), raw.target.astype(np.float32)

# shuffle before splitting
X = X[np.random.permutation(len(X))]
y = y[np.random.permutation(len(y))]

n_train = int(0.8 * len(X))
mean, std = X[:n_train].mean(0), X[:n_train].std(0)
X = (X - mean) / std
X_train, y_train = torch.from_numpy(X[:n_train]), torch.from_numpy(y[:n_train])
X_test, y_test = torch.from_numpy(X[n_train:]), torch.from_numpy(y[n_train:])


class LogisticRegression(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = nn.Linear(n, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear(x)).squeeze(1)


model = LogisticRegression(X.shape[1])
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for epoch in range(150):
    y_pred = model(X_train)
    loss = criterion(y_pred, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 30 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}")

with torch.no_grad():
    acc = (model(X_test).round() == y_test).float().mean().item()
print(f"majority class {max(y_test.mean().item(), 1 - y_test.mean().item()):.3f}, test accuracy {acc:.3f}")
