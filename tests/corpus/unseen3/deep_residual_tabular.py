import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class ResBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d))

    def forward(self, x):
        return x + self.net(x)


class DeepTabular(nn.Module):
    def __init__(self, n_in, d=12, depth=3):
        super().__init__()
        self.stem = nn.Linear(n_in, d)
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(ResBlock(d))
        self.head = nn.Linear(d, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(-1)


torch.manual_seed(0)
X = torch.randn(1500, 5)
y = torch.sign(X[:, 0] * X[:, 1]) + 0.7 * torch.sin(3 * X[:, 2])
train = DataLoader(TensorDataset(X[:1200], y[:1200]), batch_size=60, shuffle=True)
model = DeepTabular(5)
print("parameters:", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(12):
    total = 0.0
    for xb, yb in train:
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} mse {total / len(train):.4f}")
with torch.no_grad():
    print(f"test mse {nn.functional.mse_loss(model(X[1200:]), y[1200:]):.4f}")
