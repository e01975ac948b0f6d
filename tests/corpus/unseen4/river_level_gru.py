import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
np.random.seed(21)

t = np.arange(2400)
level = np.sin(2 * np.pi * t / 48) + 0.4 * np.sin(2 * np.pi * t / 300) + 0.05 * np.random.randn(2400)
level = torch.tensor(level, dtype=torch.float32)

n_streams, chunk = 8, 25
streams = level[: 8 * 300].view(n_streams, 300)


class LevelGRU(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, h):
        out, h = self.gru(x, h)
        return self.head(out), h


model = LevelGRU()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
mse = nn.MSELoss()

for epoch in range(6):
    h = torch.zeros(1, n_streams, 24)
    total, count = 0.0, 0
    for start in range(0, 300 - chunk - 1, chunk):
        x = streams[:, start:start + chunk].unsqueeze(-1)
        y = streams[:, start + 1:start + chunk + 1].unsqueeze(-1)
        pred, h = model(x, h)
        loss = mse(pred, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        count += 1
    print(f"epoch {epoch} train mse {total / count:.5f}")
