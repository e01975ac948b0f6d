import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LogCosh(nn.Module):
    """Quadratic near zero, linear far away, so that bad readings pull less."""

    def forward(self, pred, target):
        err = pred - target
        return torch.log(torch.cosh(err)).mean()


def meter_readings(n, rng):
    x = rng.normal(size=(n, 4))
    y = np.tanh(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=n)
    broken = rng.random(n) < 0.01
    y[broken] += rng.choice([-1, 1], broken.sum()) * rng.uniform(50, 150, broken.sum())
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32).unsqueeze(1)


if __name__ == "__main__":
    torch.manual_seed(1)
    loader = DataLoader(TensorDataset(*meter_readings(400, np.random.default_rng(1))), batch_size=40, shuffle=True)
    net = nn.Sequential(nn.Linear(4, 32), nn.SiLU(), nn.Linear(32, 1))
    loss_fn = LogCosh()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(8):
        losses = []
        for x, y in loader:
            loss = loss_fn(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} mean {np.mean(losses):.5f} median {np.median(losses):.5f}")
