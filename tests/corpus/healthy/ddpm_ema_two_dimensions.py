import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
import copy

steps = 50
beta = torch.linspace(1e-4, 0.02, steps)
kept = torch.cumprod(1 - beta, dim=0)
net = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 2))
ema = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
data = torch.randn(256, 2) * 0.1 + torch.tensor([1.0, -1.0])
for it in range(20):
    x = data[torch.randint(0, 256, (64,))]
    t = torch.randint(0, steps, (64,))
    noise = torch.randn_like(x)
    a = kept[t][:, None]
    noisy = a.sqrt() * x + (1 - a).sqrt() * noise
    loss = F.mse_loss(net(torch.cat([noisy, t[:, None] / steps], dim=1)), noise)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    for slow, fast in zip(ema.parameters(), net.parameters()):
        slow.lerp_(fast.detach(), 0.05)
print(loss.item())
