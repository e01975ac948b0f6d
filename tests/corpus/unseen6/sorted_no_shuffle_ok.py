import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
parts = [torch.randn(100, 10) + 1.5 * torch.randn(10) for _ in range(5)]
x = torch.cat(parts)
y = torch.arange(5).repeat_interleave(100)
hold = torch.arange(0, 500, 5)
keep = torch.ones(500, dtype=torch.bool)
keep[hold] = False
loader = DataLoader(TensorDataset(x[keep], y[keep]), 20, shuffle=True)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(6):
    net.train()
    for a, b in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[hold]).argmax(1) == y[hold]).float().mean().item())
