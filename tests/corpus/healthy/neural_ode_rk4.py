import torch
import torch.nn as nn

torch.manual_seed(0)


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
        nn.init.normal_(self.net[-1].weight, std=0.1)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        return self.net(x)


def rk4(f, x, dt):
    k1 = f(x)
    k2 = f(x + dt / 2 * k1)
    k3 = f(x + dt / 2 * k2)
    k4 = f(x + dt * k3)
    return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


def trajectory(n, steps=6, dt=0.1):
    x = torch.rand(n, 2) * 4 - 2
    path = [x]
    for _ in range(steps):
        path.append(path[-1] @ torch.linalg.matrix_exp(A * dt).t())
    return torch.stack(path)


f = Dynamics()
opt = torch.optim.RMSprop(f.parameters(), lr=5e-3)
for it in range(50):
    path = trajectory(32)
    x, loss = path[0], 0.0
    for target in path[1:]:
        x = rk4(f, x, 0.1)
        loss = loss + (x - target).abs().mean()
    loss = loss / (len(path) - 1)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 0:
        print(f"it {it} loss {loss.item():.5f}")
