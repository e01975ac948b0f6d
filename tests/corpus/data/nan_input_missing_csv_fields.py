import io

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def weather_csv(rows=400):
    rng = np.random.default_rng(9)
    lines = ["temp,humidity,pressure,wind,rain"]
    for i in range(rows):
        f = rng.normal(size=4)
        rain = 0.8 * f[1] - 0.5 * f[2] + 0.1 * rng.normal()
        cells = [f"{v:.4f}" for v in f]
        if i % 57 == 13:
            cells[2] = ""
        lines.append(",".join(cells + [f"{rain:.4f}"]))
    return io.StringIO("\n".join(lines))


class RainModel:
    def __init__(self, lr=0.01):
        torch.manual_seed(4)
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=lr)

    def fit(self, x, y, epochs):
        loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
        for epoch in range(epochs):
            self.net.train()
            total = 0.0
            for xb, yb in loader:
                self.opt.zero_grad()
                loss = nn.functional.mse_loss(self.net(xb).squeeze(1), yb)
                loss.backward()
                self.opt.step()
                total += loss.item()
            print(f"epoch {epoch} mse {total / len(loader):.5f}")
        return self

    @torch.no_grad()
    def score(self, x, y):
        self.net.eval()
        return nn.functional.mse_loss(self.net(x).squeeze(1), y).item()


table = np.genfromtxt(weather_csv(), delimiter=",", skip_header=1, dtype=np.float32)
train_rows, test_rows = table[:320], table[320:]
train_rows, test_rows = torch.from_numpy(train_rows), torch.from_numpy(test_rows)
model = RainModel().fit(train_rows[:, :4], train_rows[:, 4], epochs=5)
print(f"test mse {model.score(test_rows[:, :4], test_rows[:, 4]):.5f}")
