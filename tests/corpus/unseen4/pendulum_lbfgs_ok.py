import math
import torch
import torch.nn as nn

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)
omega = 2.0
t = torch.linspace(0, 2, 60).unsqueeze(1).requires_grad_()
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, line_search_fn="strong_wolfe")


def trial(t):
    return 1.0 + t ** 2 * net(t)


def residual():
    u = trial(t)
    du = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    ddu = torch.autograd.grad(du.sum(), t, create_graph=True)[0]
    return ((ddu + omega ** 2 * u) ** 2).mean()


def closure():
    optimizer.zero_grad()
    loss = residual()
    loss.backward()
    return loss


for it in range(12):
    loss = optimizer.step(closure)
    if it % 3 == 0:
        print(f"outer {it}: residual {loss.item():.3e}")

with torch.no_grad():
    error = (trial(t) - torch.cos(omega * t)).abs().max().item()
print("max error against cos", error)
