"""Physics-informed network for a damped oscillator: gradients with respect to the inputs."""
import torch
import torch.nn as nn

torch.manual_seed(94)
MU, K = 0.4, 4.0


class PINN(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, t):
        return 1.0 + t ** 2 * self.net(t)


def d(y, t):
    return torch.autograd.grad(y, t, torch.ones_like(y), create_graph=True)[0]


def exact(t):
    a = MU / 2
    w = (K - a * a) ** 0.5
    return torch.exp(-a * t) * (torch.cos(w * t) + a / w * torch.sin(w * t))


model = PINN()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.997)
for it in range(500):
    t = (torch.rand(48, 1) * 2).requires_grad_(True)
    u = model(t)
    du = d(u, t)
    residual = d(du, t) + MU * du + K * u
    loss = residual.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 100 == 0:
        print(f"it {it} residual {loss.item():.4f}")
grid = torch.linspace(0, 2, 50)[:, None]
with torch.no_grad():
    print("max error", (model(grid) - exact(grid)).abs().max().item())
