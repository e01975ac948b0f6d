"""Tensors printed as they are."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.05)
data = torch.randn(30, 3)
want = data.sum(1, keepdim=True)
for epoch in range(6):
    loss = F.mse_loss(net(data), want)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("Epoch", epoch, "loss", loss)
    print("weights:", net.weight.data)
