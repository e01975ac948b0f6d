import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 200).unsqueeze(1)
y = torch.sin(2 * x) + 0.05 * torch.randn_like(x)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=10)


def closure():
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    return loss


for epoch in range(15):
    loss = opt.step(closure)
    print(epoch, loss.item())
