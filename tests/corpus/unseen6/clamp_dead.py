import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 8) * 3
y = torch.sigmoid(x[:, :2].sum(1, keepdim=True))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
        nn.init.normal_(self.f[2].weight, std=0.5)

    def forward(self, x):
        return self.f(x).clamp(0, 1)


net = Net()
opt = torch.optim.Adam(net.parameters(), 1e-3)
for epoch in range(8):
    for i in torch.randperm(600).split(30):
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
