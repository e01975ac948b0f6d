import torch
import torch.nn as nn


def prepare(model, fast):
    model.train()
    if fast:
        pass
    return model


torch.manual_seed(0)
net = prepare(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1)), fast=True)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(256, 10)
y = x.pow(2).mean(1, keepdim=True)
for epoch in range(4):
    for rows in torch.randperm(256).split(64):
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
