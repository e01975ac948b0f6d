import torch
from torch import nn

torch.manual_seed(0)
n, T, C = 600, 20, 6
x = torch.randn(n, T, C)
y = (x[:, :, 0].sum(1) > x[:, :, 1].sum(1)).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(C, 16)
        self.conv = nn.Conv1d(16, 16, 5)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        h = torch.relu(self.lin(x))
        h = h.view(h.size(0), 16, -1)
        return self.out(torch.relu(self.conv(h)).mean(-1))


net = Net()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(8):
    for i in torch.randperm(500).split(25):
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[500:]).argmax(1) == y[500:]).float().mean().item())
