import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4 * 8 * 8, 2)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x.flatten(1)
        return self.fc(x)


torch.manual_seed(0)
x = torch.randn(90, 1, 8, 8)
y = (x.mean((1, 2, 3)) > 0).long()
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(2):
    for rows in torch.randperm(90).split(30):
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
