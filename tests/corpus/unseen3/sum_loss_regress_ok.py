import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
X = torch.randn(500, 4)
y = X.prod(1, keepdim=True) + X[:, :1]
loader = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss(reduction="sum")
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    sse = 0.0
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sse += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} mse {sse / len(loader.dataset):.4f}")


model.eval()
with torch.no_grad():
    X_new = torch.randn(2000, 4)
    y_new = X_new.prod(1, keepdim=True) + X_new[:, :1]
    sse, n = 0.0, 0
    for xb, yb in zip(X_new.split(256), y_new.split(256)):
        sse += criterion(model(xb), yb).item()
        n += len(xb)
mse = sse / n
variance = y_new.var().item()
print(f"new data mse {mse:.4f}")
print(f"variance explained {1 - mse / variance:.3f}")
