import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset, random_split

torch.manual_seed(2)
rng = np.random.default_rng(2)

T, WINDOW, HORIZON = 700, 24, 12
series = np.cumsum(rng.normal(size=T)) + 3 * np.sin(np.arange(T) / 12)
series = (series - series[:500].mean()) / series[:500].std()


def make_windows(values):
    xs, ys = [], []
    for i in range(len(values) - WINDOW - HORIZON):
        xs.append(values[i:i + WINDOW])
        ys.append(values[i + WINDOW:i + WINDOW + HORIZON])
    return torch.tensor(np.array(xs), dtype=torch.float32), torch.tensor(np.array(ys), dtype=torch.float32)


X, Y = make_windows(series)
dataset = TensorDataset(X, Y)
n_val = len(dataset) // 5
train_ds, val_ds = random_split(dataset, [len(dataset) - n_val, n_val])
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=64)

model = nn.Sequential(nn.Linear(WINDOW, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, HORIZON))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.MSELoss()

for epoch in range(40):
    model.train()
    tr = 0.0
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
        tr += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        va = sum(loss_fn(model(xb), yb).item() * len(xb) for xb, yb in val_dl) / n_val
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: train mse {tr / len(train_ds):.4f}  val mse {va:.4f}")
