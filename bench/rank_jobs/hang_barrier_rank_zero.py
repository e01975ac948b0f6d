# expect: run.hang
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net = DDP(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(100 + rank)
for step in range(12):
    x = torch.randn(8, 16, generator=gen)
    loss = net(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if rank == 0:
    torch.save(net.module.state_dict(), "model.pt")
    dist.barrier()  # cause
print("saved", rank)
dist.all_reduce(loss.detach())
dist.destroy_process_group()
