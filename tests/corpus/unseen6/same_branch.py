import torch
from torch import nn

torch.manual_seed(0)


class Match(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 32), nn.Linear(8, 32)
        self.out = nn.Linear(64, 1)

    def forward(self, left, right):
        u = torch.relu(self.a(left))
        v = torch.relu(self.b(left))
        return self.out(torch.cat([u, v], 1)).squeeze(1)


p, q = torch.randn(800, 8), torch.randn(800, 8)
y = ((p * q).sum(1) > 0).float()
net = Match()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(8):
    for i in torch.randperm(800).split(40):
        loss = nn.functional.binary_cross_entropy_with_logits(net(p[i], q[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
