import torch
from torch import nn

torch.manual_seed(0)
s = torch.sin(torch.arange(1000) / 7) + 0.1 * torch.randn(1000)
w = s.unfold(0, 21, 1)
train, test = w[:780], w[800:]
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(6):
    for b in train[torch.randperm(len(train))].split(30):
        opt.zero_grad()
        loss = nn.functional.huber_loss(net(b[:, :20]), b[:, 20:])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss.item(), nn.functional.l1_loss(net(test[:, :20]), test[:, 20:]).item())
