"""Physics-informed network for u' = -2 u, u(0) = 1."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

t0 = torch.zeros(1, 1)
for step in range(120):
    t = torch.rand(64, 1).requires_grad_(True)
    u = net(t)
    (du,) = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)
    residual = (du + 2 * u).pow(2).mean()
    boundary = (net(t0) - 1).pow(2).mean()
    loss = residual + 5 * boundary
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.6f}")

with torch.no_grad():
    grid = torch.linspace(0, 1, 5).unsqueeze(1)
    print("max error", round((net(grid) - torch.exp(-2 * grid)).abs().max().item(), 4))
