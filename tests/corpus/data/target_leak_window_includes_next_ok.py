import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)
days = np.arange(520)
load = np.sin(2 * np.pi * days / 7) + 0.5 * np.sin(2 * np.pi * days / 30) + 0.15 * rng.standard_normal(520)
split = 420
load = ((load - load[:split].mean()) / load[:split].std()).astype(np.float32)
LOOKBACK = 14


def windows(series):
    xs, ys = [], []
    for t in range(LOOKBACK, len(series)):
        xs.append(series[t - LOOKBACK:t])
        ys.append(series[t])
    return torch.from_numpy(np.stack(xs)).unsqueeze(-1), torch.from_numpy(np.array(ys)).unsqueeze(-1)


class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.readout(out[:, -1])


train_loader = DataLoader(TensorDataset(*windows(load[:split])), batch_size=32, shuffle=True)
x_test, y_test = windows(load[split:])
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
mse = nn.MSELoss()
for epoch in range(8):
    model.train()
    epoch_losses = []
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = mse(model(x), y)
        loss.backward()
        optimizer.step()
        epoch_losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        test = mse(model(x_test), y_test).item()
    print(f"Epoch {epoch + 1}/8  train MSE {np.mean(epoch_losses):.5f}  test MSE {test:.5f}")
