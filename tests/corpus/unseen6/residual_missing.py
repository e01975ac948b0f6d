import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm, self.f = nn.LayerNorm(d), nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, d))

    def forward(self, x):
        residual = x
        x = self.f(self.norm(x))
        return x


net = nn.Sequential(nn.Linear(8, 32), *[Block(32) for _ in range(12)], nn.Linear(32, 2))
x = torch.randn(600, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(4):
    for i in torch.randperm(600).split(30):
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
