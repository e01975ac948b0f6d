import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(300, 30)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), 2e-3)
lam = 1e-2
for epoch in range(10):
    for i in torch.randperm(200).split(20):
        l2 = sum(p.data.pow(2).sum() for p in net.parameters())
        loss = nn.functional.cross_entropy(net(x[i]), y[i]) + lam * l2
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), l2.item())
