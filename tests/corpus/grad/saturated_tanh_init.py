import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
torch.manual_seed(0)


class TanhNet(nn.Module):
    def __init__(self, n_in, hidden=96, depth=3):
        super().__init__()
        dims = [n_in] + [hidden] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.readout = nn.Linear(hidden, 1)
        for layer in self.layers:
            nn.init.normal_(layer.weight, std=3.0)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.readout(x)


x = rng.uniform(-1, 1, size=(500, 12)).astype(np.float32)
y = (np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2]).astype(np.float32)[:, None]
x, y = torch.from_numpy(x), torch.from_numpy(y)

model = TanhNet(12)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(10):
    for idx in torch.randperm(len(x)).split(50):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1:2d} mse {loss.item():.6f}")
