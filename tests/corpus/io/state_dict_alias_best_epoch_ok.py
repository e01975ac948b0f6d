import copy

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
train_dl = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=30, shuffle=True)
xv, yv, xt, yt = x[300:600], y[300:600], x[600:], y[600:]

model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
criterion = nn.CrossEntropyLoss()

best_loss, best_weights = float("inf"), None
for epoch in range(12):
    model.train()
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(xv), yv).item()
    if val_loss < best_loss:
        best_loss = val_loss
        best_weights = copy.deepcopy(model.state_dict())
    print(f"epoch {epoch} train {loss.item():.5f} val {val_loss:.5f}")

model.load_state_dict(best_weights)
model.eval()
with torch.no_grad():
    print(f"best val {best_loss:.5f}, restored val {criterion(model(xv), yv).item():.5f}, "
          f"test acc {(model(xt).argmax(1) == yt).float().mean().item():.4f}")
