import tempfile

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(500, 16)
y = (x[:, 0] + torch.randn(500) > 0).long()
net = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 2))
opt = torch.optim.Adam(net.parameters(), 5e-3)
path, best = tempfile.mktemp(), float("inf")
for epoch in range(15):
    net.train()
    for i in torch.randperm(300).split(20):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        val = nn.functional.cross_entropy(net(x[300:]), y[300:]).item()
    if val < best:
        best = val
    torch.save(net.state_dict(), path)
    print(epoch, loss.item(), val)
net.load_state_dict(torch.load(path))
with torch.no_grad():
    print("best", best, "restored", nn.functional.cross_entropy(net(x[300:]), y[300:]).item())
