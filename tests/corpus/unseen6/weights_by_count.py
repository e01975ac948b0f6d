import torch
from torch import nn

torch.manual_seed(0)
y = (torch.rand(1200) < 0.08).long()
x = torch.randn(1200, 6) + 0.9 * y[:, None]
xt, yt, xv, yv = x[:900], y[:900], x[900:], y[900:]
counts = torch.bincount(yt).float()
weight = counts / counts.sum()
crit = nn.CrossEntropyLoss(weight=weight)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(8):
    net.train()
    for i in torch.randperm(900).split(60):
        opt.zero_grad()
        loss = crit(net(xt[i]), yt[i])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        p = net(xv).argmax(1)
        recall = (p[yv == 1] == 1).float().mean().item()
    print(epoch, loss.item(), "acc", (p == yv).float().mean().item(), "recall", recall)
