# expect: dist.collective-mismatch
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(2)
model = DDP(nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1)))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(40 + rank)
for step in range(16):
    x = torch.randn(12, 5, generator=gen)
    loss = nn.functional.smooth_l1_loss(model(x).squeeze(1), x.prod(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
held = torch.randn(30 if rank == 0 else 26, 5, generator=gen)
with torch.no_grad():
    mine = model.module(held).squeeze(1)
parts = [torch.zeros_like(mine) for _ in range(world)]
dist.all_gather(parts, mine)  # cause
print("mean prediction", torch.cat(parts).mean().item())
dist.destroy_process_group()
