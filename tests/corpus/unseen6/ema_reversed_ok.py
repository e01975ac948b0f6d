import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(800, 6)
y = (x.sum(1) > 0).long()
flip = torch.rand(800) < 0.2
y[flip] = 1 - y[flip]
net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 2))
ema = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.SGD(net.parameters(), 0.5)
decay = 0.99


@torch.no_grad()
def update():
    for e, p in zip(ema.parameters(), net.parameters()):
        e.mul_(decay).add_(p, alpha=1 - decay)


for epoch in range(15):
    for i in torch.randperm(600).split(20):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
        update()
    with torch.no_grad():
        a = (net(x[600:]).argmax(1) == y[600:]).float().mean().item()
        b = (ema(x[600:]).argmax(1) == y[600:]).float().mean().item()
    print(epoch, loss.item(), a, b)
