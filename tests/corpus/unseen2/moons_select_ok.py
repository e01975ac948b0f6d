import copy

import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.manual_seed(30)


def moons(n, seed, noise=0.35):
    X, y = make_moons(n, noise=noise, random_state=seed)
    return torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


X_train, y_train = moons(60, 0)
X_val, y_val = moons(300, 1)
X_test, y_test = moons(1000, 2)

model = nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
initial_state = copy.deepcopy(model.state_dict())
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def val_loss():
    model.eval()
    with torch.no_grad():
        return criterion(model(X_val).squeeze(1), y_val).item()


best_loss = float("inf")
best_state = initial_state
best_epoch = -1
for epoch in range(200):
    model.train()
    optimizer.zero_grad()
    loss = criterion(model(X_train).squeeze(1), y_train)
    loss.backward()
    optimizer.step()
    current = val_loss()
    if current < best_loss:
        best_loss = current
        best_epoch = epoch
        best_state = copy.deepcopy(model.state_dict())
    if epoch % 40 == 0:
        print(f"epoch {epoch:3d} train {loss.item():.4f} val {current:.4f}")

print(f"best validation loss {best_loss:.4f} at epoch {best_epoch}, final {val_loss():.4f}")
model.load_state_dict(best_state)
print(f"validation loss of the restored model {val_loss():.4f}")
with torch.no_grad():
    acc = ((model(X_test).squeeze(1) > 0).float() == y_test).float().mean().item()
print(f"test accuracy {acc:.4f}")
