import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

torch.manual_seed(0)


class WindowDataset(Dataset):
    def __init__(self, series, window=16):
        self.series = series
        self.window = window

    def __len__(self):
        return len(self.series) - self.window

    def __getitem__(self, i):
        x = self.series[i + 1:i + self.window + 1]
        y = self.series[i + self.window]
        return x, y.view(1)


class Forecast(nn.Module):
    def __init__(self, window=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(window, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


n = 1000
steps = torch.randn(n) * 0.3
price = torch.zeros(n)
for t in range(1, n):
    price[t] = 0.9 * price[t - 1] + steps[t] + 0.2 * math.sin(t / 9)
ds = WindowDataset(price)
cut = 750
train_loader = DataLoader(Subset(ds, range(cut)), batch_size=50, shuffle=True)
test_loader = DataLoader(Subset(ds, range(cut + 16, len(ds))), batch_size=64)

model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
mse = nn.MSELoss()
for epoch in range(15):
    for x, y in train_loader:
        loss = mse(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = sum(mse(model(x), y).item() * len(y) for x, y in test_loader) / (len(ds) - cut - 16)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} test mse {val:.4f}")

with torch.no_grad():
    err = 0.0
    for t in range(800, n):
        guess = model(price[t - 16:t].unsqueeze(0)).item()
        err += (guess - price[t].item()) ** 2 / (n - 800)
print(f"live one-step forecast mse {err:.4f}")
