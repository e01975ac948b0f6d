import math

import torch
from torch import nn

torch.manual_seed(1)
SEQ = 24


def make_series(n=1200):
    t = torch.arange(n, dtype=torch.float32)
    load = 0.6 * torch.sin(2 * math.pi * t / 24) + 0.3 * torch.sin(2 * math.pi * t / 168)
    return load + 0.05 * torch.randn(n)


def windows(series):
    xs = series.unfold(0, SEQ + 1, 1)
    return xs[:, :SEQ].unsqueeze(-1), xs[:, SEQ:]


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


series = make_series()
x, y = windows(series)
split = 900
x_train, y_train = x[:split], y[:split]
x_test, y_test = x[split + SEQ:], y[split + SEQ:]

model = Forecaster()
loss_fn = nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.8)

for epoch in range(8):
    perm = torch.randperm(len(x_train))
    running = 0.0
    for i in range(0, len(perm), 50):
        idx = perm[i:i + 50]
        pred = model(x_train[idx])
        loss = loss_fn(pred, y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(idx)
    with torch.no_grad():
        test_mse = loss_fn(model(x_test), y_test).item()
    print(f"epoch {epoch}: train mse {running / split:.4f} test mse {test_mse:.4f}")
