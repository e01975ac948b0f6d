import torch
from torch import nn

torch.manual_seed(0)
raw = torch.randn(700, 6) * torch.tensor([1.0, 30.0, 0.1, 500.0, 5.0, 80.0]) + torch.tensor([0.0, 100.0, 3.0, 2000.0, -4.0, 400.0])
y = ((raw[:, 0] + (raw[:, 3] - 2000) / 500) > 0).long()
mean, std = raw[:500].mean(0), raw[:500].std(0)
x = raw - mean / std
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(6):
    for i in torch.randperm(500).split(25):
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[500:]).argmax(1) == y[500:]).float().mean().item())
