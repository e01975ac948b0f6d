import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(900, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
xt, yt, xv, yv = x[:700], y[:700], x[700:], y[700:]
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), 5e-3)
best_acc, best = float("inf"), None
for epoch in range(12):
    net.train()
    for i in torch.randperm(700).split(50):
        opt.zero_grad()
        nn.functional.cross_entropy(net(xt[i]), yt[i]).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (net(xv).argmax(1) == yv).float().mean().item()
    print(epoch, f"val acc {acc:.3f}")
    if acc < best_acc:
        best_acc, best = acc, copy.deepcopy(net.state_dict())
net.load_state_dict(best)
with torch.no_grad():
    print("restored", (net(xv).argmax(1) == yv).float().mean().item())
