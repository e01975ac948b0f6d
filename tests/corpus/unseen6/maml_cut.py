import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def init():
    return [nn.Parameter(torch.randn(1, 32) * 0.5), nn.Parameter(torch.zeros(32)), nn.Parameter(torch.randn(32, 1) * 0.2), nn.Parameter(torch.zeros(1))]


def net(x, p):
    return F.linear(torch.tanh(x @ p[0] + p[1]), p[2].t(), p[3])


def task():
    a, ph = torch.rand(()) * 3 + 0.5, torch.rand(()) * 3.14
    x = torch.rand(20, 1) * 8 - 4
    return x, a * torch.sin(x + ph)


meta = init()
opt = torch.optim.Adam(meta, 1e-2)
for it in range(60):
    outer = 0.0
    for _ in range(4):
        x, y = task()
        fast = list(meta)
        for _ in range(2):
            loss = F.mse_loss(net(x[:10], fast), y[:10])
            grads = torch.autograd.grad(loss, fast)
            fast = [(w - 0.05 * g).detach().requires_grad_() for w, g in zip(fast, grads)]
        outer = outer + F.mse_loss(net(x[10:], fast), y[10:])
    opt.zero_grad()
    outer.backward()
    opt.step()
    if it % 15 == 0:
        print(it, outer.item() / 4)
