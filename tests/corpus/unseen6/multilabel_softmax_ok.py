import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(900, 14)
y = ((x @ torch.randn(14, 5)) > 1).float()
net = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.Adam(net.parameters(), 3e-3)
crit = nn.BCEWithLogitsLoss()
for epoch in range(8):
    net.train()
    for i in torch.randperm(800).split(40):
        out = net(x[i])
        loss = crit(out, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        p = (torch.sigmoid(net(x[800:])) > 0.5).float()
    print(epoch, loss.item(), (p == y[800:]).float().mean().item())
