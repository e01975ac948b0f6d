import warnings

import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
torch.manual_seed(10)
rng = np.random.default_rng(10)

n = 1000
cement = rng.uniform(100, 500, n)
water = rng.uniform(120, 240, n)
age = rng.choice([3, 7, 14, 28, 56, 90], n)
strength = 0.09 * cement - 0.14 * water + 9.5 * np.log(age) + 12 + rng.normal(0, 2.5, n)

X = np.stack([cement, water, np.log(age)], axis=1)
X_train, X_test, y_train, y_test = train_test_split(X, strength, test_size=0.2, random_state=10)
mean, std = X_train.mean(0), X_train.std(0)
y_mean, y_std = y_train.mean(), y_train.std()


def tensors(X, y):
    X = torch.tensor((X - mean) / std, dtype=torch.float32)
    y = torch.tensor((y - y_mean) / y_std, dtype=torch.float32)
    return X, y


X_train, y_train = tensors(X_train, y_train)
X_test, y_test = tensors(X_test, y_test)
loader = DataLoader(TensorDataset(X_train, y_train), batch_size=40, shuffle=True)

model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(20):
    for inputs, targets in loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1}, loss {loss.item():.4f}")

with torch.no_grad():
    pred = model(X_test)[:, 0]
print("test RMSE:", ((pred - y_test).pow(2).mean().sqrt() * y_std).item(), "std of target:", y_std)
