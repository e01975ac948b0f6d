import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(18)
rng = np.random.default_rng(18)

# columns: weekday 0..6, temperature, humidity
n = 420
weekday = rng.integers(0, 7, n)
temp = rng.normal(size=n)
hum = rng.normal(size=n)
effect = np.array([0.5, 0.1, 0.0, 0.2, 0.9, 1.6, 1.4])
demand = effect[weekday] + 0.8 * temp - 0.3 * hum + 0.1 * rng.normal(size=n)
table = np.column_stack([weekday, temp, hum]).astype("float32")
demand = demand.astype("float32")


class DemandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.day = nn.Embedding(7, 4)
        self.mlp = nn.Sequential(nn.Linear(4 + 2, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, row):
        day = self.day(row[:, 0])
        return self.mlp(torch.cat([day, row[:, 1:]], dim=1)).squeeze(1)


rows, target = torch.from_numpy(table), torch.from_numpy(demand)
net = DemandNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(10):
    epoch_losses = []
    for idx in torch.randperm(n).split(42):
        loss = nn.functional.l1_loss(net(rows[idx]), target[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_losses.append(loss.item())
    print("epoch", epoch, "mae", round(float(np.mean(epoch_losses)), 6))
