import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
idx = np.random.RandomState(0).permutation(len(X))
X, y = X[idx], y[idx]
cut = 350
mu, sigma = y[:cut].mean(), y[:cut].std()
y = (y - mu) / sigma
X = X * np.sqrt(len(X))        # the columns come with unit norm
to = lambda a: torch.tensor(a, dtype=torch.float32)
train_dl = DataLoader(TensorDataset(to(X[:cut]), to(y[:cut]).unsqueeze(1)), batch_size=35, shuffle=True)
X_val, y_val = to(X[cut:]), to(y[cut:]).unsqueeze(1)

model = nn.Sequential(
    nn.Linear(10, 64),
    nn.ReLU(),
    nn.Linear(64, 1),
)
criterion = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(8):
    model.train()
    losses = []
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(X_val), y_val).item()
    print(f"epoch {epoch:2d}  train {np.mean(losses):.4f}  val {val_loss:.4f}")
