import torch
import torch.nn as nn


class SensorNet(nn.Module):
    def __init__(self, features=6, hidden=24):
        super().__init__()
        self.inp = nn.Linear(features, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x):
        h = torch.relu(self.inp(x))
        h = self.norm(h)
        return self.out(h.mean(1))


torch.manual_seed(0)
x = torch.randn(200, 15, 6)
y = (x[:, :, 0].mean(1) > 0).long()
model = SensorNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(200).split(40):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
