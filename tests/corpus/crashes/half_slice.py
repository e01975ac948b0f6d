import torch
import torch.nn as nn


class TwoHalves(nn.Module):
    def __init__(self, features=10):
        super().__init__()
        self.middle = features / 2
        self.left = nn.Linear(5, 8)
        self.right = nn.Linear(5, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        a, b = x[:, : self.middle], x[:, self.middle :]
        return self.out(torch.relu(self.left(a)) * torch.relu(self.right(b)))


torch.manual_seed(0)
net = TwoHalves()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(30):
    x = torch.randn(64, 10)
    loss = (net(x).squeeze(1) - x[:, 0] * x[:, 9]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
