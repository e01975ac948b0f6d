import torch
import torch.nn as nn


class GatedUnit(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gate = nn.Linear(d, d)
        self.value = nn.Linear(d, d)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        h = torch.tanh(self.value(x))
        mixed = g * h
        g += 0.1
        return mixed + (1 - g) * x


torch.manual_seed(0)
net = nn.Sequential(GatedUnit(6), GatedUnit(6), nn.Linear(6, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(512, 6)
y = x[:, :1] * x[:, 1:2]
for step in range(50):
    rows = torch.randint(0, 512, (64,))
    loss = (net(x[rows]) - y[rows]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
