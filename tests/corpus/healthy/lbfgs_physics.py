import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
t = torch.linspace(0, 1, 40)[:, None].requires_grad_(True)


def closure():
    opt.zero_grad()
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = ((du + u) ** 2).mean() + (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    loss.backward()
    return loss


for _ in range(4):
    value = opt.step(closure)
print(float(value))
