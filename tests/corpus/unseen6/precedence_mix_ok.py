import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(600, 10)
y = (x[:, :3].sum(1) > 0).long()
z = x[:, 3:5].sum(1, keepdim=True)
trunk, cls, reg = nn.Sequential(nn.Linear(10, 64), nn.ReLU()), nn.Linear(64, 2), nn.Linear(64, 1)
opt = torch.optim.Adam([*trunk.parameters(), *cls.parameters(), *reg.parameters()], 2e-3)
alpha = 0.6
for epoch in range(6):
    for i in torch.randperm(600).split(30):
        h = trunk(x[i])
        a, b = F.cross_entropy(cls(h), y[i]), F.mse_loss(reg(h), z[i])
        loss = alpha * a + (1 - alpha) * b
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), a.item(), b.item())
