import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(500, 10)
y = (x[:, :1] * x[:, 1:2]).sin()


def build():
    net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
    return net, torch.optim.Adam(net.parameters(), 3e-3)


net, opt = build()
for epoch in range(8):
    for i in torch.randperm(400).split(20):
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss.item(), nn.functional.mse_loss(net(x[400:]), y[400:]).item())
