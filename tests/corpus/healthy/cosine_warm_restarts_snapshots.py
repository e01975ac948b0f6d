import copy
import torch
from torch import nn

torch.manual_seed(4)
x = torch.rand(400, 2) * 4 - 2
y = torch.sin(x[:, :1] * 2) + torch.cos(x[:, 1:] * 2)
x_val = torch.rand(100, 2) * 4 - 2
y_val = torch.sin(x_val[:, :1] * 2) + torch.cos(x_val[:, 1:] * 2)

net = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
CYCLE = 30
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=CYCLE, eta_min=1e-6)
snapshots = []
for step in range(3 * CYCLE):
    idx = torch.randint(0, 400, (64,))
    loss = nn.functional.mse_loss(net(x[idx]), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if (step + 1) % CYCLE == 0:
        snapshots.append(copy.deepcopy(net).eval())
        print(f"cycle {len(snapshots)} loss {loss.item():.5f}")

with torch.no_grad():
    ensemble = torch.stack([m(x_val) for m in snapshots]).mean(0)
print(f"ensemble val mse {nn.functional.mse_loss(ensemble, y_val).item():.5f}")
