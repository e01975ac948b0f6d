# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(4)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
torch.manual_seed(40 + rank)
for step in range(30):
    x = torch.randn(16, 12)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1))
    optimizer.zero_grad()
    loss.backward()
    flat = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at : at + p.numel()].view_as(p))
        at += p.numel()
    optimizer.step()
dist.destroy_process_group()
