import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 8, 3), nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(400, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.relu(self.c2(x)).flatten(1)
        return self.fc(F.dropout(x, 0.4))


y = torch.randint(0, 4, (700,))
x = 0.5 * torch.randn(700, 1, 16, 16)
for i, c in enumerate(y.tolist()):
    x[i, 0, (c // 2) * 8 : (c // 2) * 8 + 8, (c % 2) * 8 : (c % 2) * 8 + 8] += 0.4
net = Net()
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(4):
    net.train()
    for i in torch.randperm(600).split(30):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[600:]).argmax(1) == y[600:]).float().mean().item())
