import torch
import torch.nn as nn

GROUPS = 8


def block(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1), nn.GroupNorm(GROUPS, c_out), nn.ReLU())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(1, 16), block(16, 24), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(24, 2)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(8, 1, 12, 12)
    loss = nn.functional.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
