# expect: dist.param-divergence
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1000 + rank)
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 1))  # cause
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(30):
    x = torch.randn(16, 20)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1))
    optimizer.zero_grad()
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    optimizer.step()
dist.destroy_process_group()
