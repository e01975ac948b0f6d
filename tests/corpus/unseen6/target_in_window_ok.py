import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
t = torch.arange(1500).float()
series = torch.sin(t / 11) + 0.5 * torch.sin(t / 5) + 0.3 * torch.randn(1500)
L = 24
xs, ys = [], []
for i in range(len(series) - L - 1):
    xs.append(series[i : i + L])
    ys.append(series[i + L])
x, y = torch.stack(xs).unsqueeze(-1), torch.stack(ys).unsqueeze(-1)
cut = 1200
train = DataLoader(TensorDataset(x[:cut], y[:cut]), 64, shuffle=True)
vx, vy = x[cut:], y[cut:]


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.out(h[:, -1])


m = Forecaster()
opt = torch.optim.Adam(m.parameters(), 3e-3)
for epoch in range(8):
    m.train()
    for xb, yb in train:
        opt.zero_grad()
        loss = nn.functional.mse_loss(m(xb), yb)
        loss.backward()
        opt.step()
    m.eval()
    with torch.no_grad():
        print(epoch, "train", loss.item(), "val", nn.functional.mse_loss(m(vx), vy).item())
