import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
x = torch.rand(1000, 2) * 2 - 1
margin = x[:, 0] - torch.sin(3 * x[:, 1]) / 2
y = (margin > 0).float()
difficulty = -margin.abs()
order = torch.argsort(difficulty)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()
x_test = torch.rand(400, 2) * 2 - 1
y_test = (x_test[:, 0] - torch.sin(3 * x_test[:, 1]) / 2 > 0).float()
for epoch in range(15):
    share = min(1.0, 0.3 + 0.07 * epoch)
    subset = order[: int(share * len(order))]
    loader = DataLoader(TensorDataset(x[subset], y[subset]), batch_size=50, shuffle=True)
    for xb, yb in loader:
        loss = bce(model(xb).squeeze(-1), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            acc = ((model(x_test).squeeze(-1) > 0).float() == y_test).float().mean().item()
        print(f"epoch {epoch + 1} using {len(subset)} samples: loss {loss.item():.4f} test acc {acc:.3f}")
