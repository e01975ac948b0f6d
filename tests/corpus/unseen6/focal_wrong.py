import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Focal(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, y):
        ce = F.cross_entropy(logits, y, reduction="none")
        pt = torch.exp(-ce)
        return (pt**self.gamma * ce).mean()


x = torch.randn(1000, 8)
y = (x[:, :2].sum(1) > 1.8).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), 3e-3)
crit = Focal()
for epoch in range(8):
    for i in torch.randperm(1000).split(50):
        opt.zero_grad()
        loss = crit(net(x[i]), y[i])
        loss.backward()
        opt.step()
    with torch.no_grad():
        p = net(x).argmax(1)
    print(epoch, loss.item(), (p == y).float().mean().item(), (p[y == 1] == 1).float().mean().item())
