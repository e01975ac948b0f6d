"""Gradient accumulation: effective batch of 128 from micro-batches of 32."""
import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ACCUM = 4

X, y = make_friedman1(1536, n_features=10, noise=0.5, random_state=0)
mu, sd = y[:1280].mean(), y[:1280].std()
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor((y - mu) / sd, dtype=torch.float32)
train_loader = DataLoader(TensorDataset(X[:1280], y[:1280]), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.MSELoss()

for epoch in range(20):
    opt.zero_grad(set_to_none=True)
    running = 0.0
    for i, (xb, yb) in enumerate(train_loader, start=1):
        loss = loss_fn(model(xb).squeeze(1), yb)
        (loss / ACCUM).backward()
        running += loss.item()
        if i % ACCUM == 0:
            opt.step()
            opt.zero_grad(set_to_none=True)
    if epoch % 5 == 4:
        with torch.no_grad():
            test = loss_fn(model(X[1280:]).squeeze(1), y[1280:]).item()
        print(f"epoch {epoch + 1} train {running / len(train_loader):.4f} test {test:.4f}")

# report in original units
model.eval()
with torch.no_grad():
    pred = model(X[1280:]).squeeze(1) * sd + mu
    truth = y[1280:] * sd + mu
mae = (pred - truth).abs().mean().item()
print(f"test MAE {mae:.3f}, target std {sd:.3f}")
