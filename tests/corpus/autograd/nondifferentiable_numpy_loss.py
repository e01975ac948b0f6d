import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def quantile_loss(pred, target, q=0.8):
    """Pinball loss."""
    diff = target.numpy() - pred.detach().numpy()
    return torch.tensor(np.maximum(q * diff, (q - 1) * diff).mean())


def make(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 3))
    y = np.sin(3 * x[:, :1]) + x[:, 1:2] + 0.3 * rng.standard_normal((n, 1))
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))


class QuantileRegressor:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=5e-3)

    def fit(self, dataset, epochs=8, batch_size=50):
        loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)
        for epoch in range(epochs):
            history = []
            for x, y in loader:
                self.optimizer.zero_grad()
                loss = quantile_loss(self.net(x), y)
                loss.backward()
                self.optimizer.step()
                history.append(loss.item())
            print("epoch", epoch, "pinball", round(float(np.mean(history)), 6))


torch.manual_seed(3)
QuantileRegressor().fit(make(400, 3))
