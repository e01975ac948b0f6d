import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
center = torch.ones(16, 6)
for step in range(12):
    noise = 0.3 * torch.randn(6)
    x = center + noise
    target = x.sum(1, keepdim=True)
    loss = F.mse_loss(model(x), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
