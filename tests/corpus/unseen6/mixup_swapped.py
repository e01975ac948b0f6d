import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
y = torch.randint(0, 5, (800,))
x = torch.randn(5, 20)[y] + 0.8 * torch.randn(800, 20)
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.Adam(net.parameters(), 2e-3)
beta = torch.distributions.Beta(0.4, 0.4)
for epoch in range(8):
    net.train()
    for i in torch.randperm(700).split(50):
        a, ya = x[i], y[i]
        perm = torch.randperm(len(i))
        lam = beta.sample()
        mixed = lam * a + (1 - lam) * a[perm]
        out = net(mixed)
        loss = (1 - lam) * F.cross_entropy(out, ya) + lam * F.cross_entropy(out, ya[perm])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[700:]).argmax(1) == y[700:]).float().mean().item())
