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
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
gen = torch.Generator().manual_seed(rank)
for step in range(40):
    x = torch.randn(16, 12, generator=gen)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 7:
        with torch.no_grad():
            for p in model.parameters():
                dist.all_reduce(p)
                p /= world
dist.destroy_process_group()
