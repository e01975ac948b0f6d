import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(1000, 10)
y = (x[:, :1] * x[:, 1:2]) + 0.3 * torch.randn(1000, 1)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 4e-3)
best, bad_epochs, patience = 1e9, 0, 4
for epoch in range(40):
    net.train()
    for i in torch.randperm(300).split(10):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        val = nn.functional.mse_loss(net(x[800:]), y[800:]).item()
    print(epoch, loss.item(), val)
    if val < best:
        best = val
    else:
        bad_epochs += 1
        if bad_epochs >= patience:
            print("early stop")
            break
