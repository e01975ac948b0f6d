import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, SequentialSampler


class Windows(Dataset):
    def __init__(self, series, width):
        self.series, self.width = torch.from_numpy(series.astype(np.float32)), width

    def __len__(self):
        return len(self.series) - self.width

    def __getitem__(self, i):
        return self.series[i:i + self.width], self.series[i + self.width]


rng = np.random.default_rng(0)
torch.manual_seed(0)
t = np.arange(700)
series = np.sin(t / 8) + 0.3 * np.sin(t / 21) + 0.05 * rng.normal(size=t.size)
train, val = Windows(series[:560], 16), Windows(series[560:], 16)
train_loader = DataLoader(train, batch_size=32, sampler=SequentialSampler(train))   # keep the order of time
val_loader = DataLoader(val, batch_size=64, shuffle=False)

model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    model.eval()
    with torch.no_grad():
        err = sum(nn.functional.mse_loss(model(x).squeeze(1), y, reduction="sum").item() for x, y in val_loader)
    print(f"epoch {epoch} train {total / len(train):.5f} val {err / len(val):.5f}")
