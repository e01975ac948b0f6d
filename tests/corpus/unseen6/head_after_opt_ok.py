import torch
from torch import nn

torch.manual_seed(0)


class Small(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 64), nn.ReLU())
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        return self.fc(self.body(x))


x = torch.randn(800, 12)
y = (x[:, :3].sum(1) > 0).long() + (x[:, 3:6].sum(1) > 0).long()
net = Small()
net.fc = nn.Linear(64, 3)
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(6):
    for i in torch.randperm(800).split(40):
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
