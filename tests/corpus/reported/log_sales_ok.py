"""Sales regression with a log transformed target."""
import numpy as np
import torch
from torch import nn


class SalesData:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.uniform(-1, 1, size=(n, 6)).astype(np.float32)
        level = 3 + 1.2 * self.x[:, 0] + 0.8 * self.x[:, 1] * self.x[:, 2] - 0.5 * self.x[:, 3]
        self.y = np.exp(level + rng.normal(0, 0.1, size=n)).astype(np.float32)

    def tensors(self):
        return torch.from_numpy(self.x), torch.from_numpy(self.y)


class SalesNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)

    @torch.no_grad()
    def predict(self, x):
        self.eval()
        return torch.expm1(self(x))


def train(model, x, y, epochs=25):
    target = torch.log1p(y)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(50):
            loss = nn.functional.mse_loss(model(x[idx]), target[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 8 == 0:
            print(f"epoch {epoch} training loss {total / len(x):.4f}")


def main():
    torch.manual_seed(0)
    x, y = SalesData(1000, 0).tensors()
    x_test, y_test = SalesData(300, 1).tensors()
    model = SalesNet()
    train(model, x, y)
    error = (model.predict(x_test) - y_test).abs()
    print(f"test MAE {error.mean().item():.2f} for sales with mean {y_test.mean().item():.2f}")


if __name__ == "__main__":
    main()
