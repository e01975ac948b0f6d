import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
rng = np.random.default_rng(31)
X = rng.uniform(-1, 1, size=(1000, 8)).astype(np.float32)
y = (3 * X[:, 0] - 2 * X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + 0.1 * rng.normal(size=1000)).astype(np.float32)
y = y[:, None]

train_dl = DataLoader(TensorDataset(torch.from_numpy(X[:800]), torch.from_numpy(y[:800])), batch_size=40, shuffle=True)
X_val, y_val = torch.from_numpy(X[800:]), torch.from_numpy(y[800:])

model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)

for epoch in range(25):
    model.train()
    epoch_loss = 0.0
    for xb, yb in train_dl:
        pred = model(xb)
        loss = criterion(pred, yb)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        val = criterion(model(X_val), y_val).item()
    if epoch % 4 == 0:
        print(f"epoch {epoch:2d}  train {epoch_loss / 800:.4f}  val {val:.4f}")
print("final val rmse", val ** 0.5)
