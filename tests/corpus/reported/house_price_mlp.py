import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(7)
torch.manual_seed(7)

rooms = rng.integers(1, 8, size=1000)
area = rooms * 18 + rng.normal(0, 10, size=1000)
age = rng.uniform(0, 60, size=1000)
distance = rng.exponential(6, size=1000)
price = 1.8 * area - 0.7 * age - 3.0 * distance + rng.normal(0, 8, size=1000)

features = np.stack([rooms, area, age, distance], axis=1).astype(np.float32)
price = price.astype(np.float32)
train_x, test_x = features[:800], features[800:]
train_y, test_y = price[:800], price[800:]

mean, std = train_x.mean(axis=0), train_x.std(axis=0)
y_mean, y_std = train_y.mean(), train_y.std()
train_x, test_x = torch.from_numpy((train_x - mean) / std), torch.from_numpy((test_x - mean) / std)
train_y, test_y = torch.from_numpy((train_y - y_mean) / y_std), torch.from_numpy((test_y - y_mean) / y_std)


class PriceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


def squared_error(pred, target):
    return ((pred - target) ** 2).mean()


model = PriceModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(40):
    model.train()
    for idx in torch.randperm(len(train_x)).split(64):
        optimizer.zero_grad()
        loss = squared_error(model(train_x[idx]), train_y[idx])
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        model.eval()
        with torch.no_grad():
            error = squared_error(model(test_x), test_y).sqrt().item() * float(y_std)
        print(f"epoch {epoch + 1}: train loss {loss.item():.3f}, test RMSE {error:.1f}")
