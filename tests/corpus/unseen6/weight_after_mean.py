import torch
from torch import nn

torch.manual_seed(0)
y = (torch.rand(900) < 0.1).float()
x = torch.randn(900, 5) + y[:, None]
weight = torch.where(y == 1, 9.0, 1.0)
net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 2e-3)
crit = nn.BCEWithLogitsLoss()
for epoch in range(8):
    for i in torch.randperm(900).split(50):
        loss = (crit(net(x[i]).squeeze(1), y[i]) * weight[i]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        p = net(x).squeeze(1) > 0
    print(epoch, loss.item(), "recall", p[y == 1].float().mean().item())
