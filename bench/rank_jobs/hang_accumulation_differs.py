# expect: run.hang, dist.collective-mismatch
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
memory_gb = {0: 80, 1: 40}[rank]
micro_size = 32 if memory_gb > 60 else 16
rounds = 64 // micro_size
model = DDP(nn.Sequential(nn.Linear(7, 14), nn.Tanh(), nn.Linear(14, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
gen = torch.Generator().manual_seed(rank)
for step in range(15):
    optimizer.zero_grad()
    for part in range(rounds):
        x = torch.randn(micro_size, 7, generator=gen)
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        (loss / rounds).backward()  # cause
    optimizer.step()
if rank == 0:
    torch.save(model.module.state_dict(), "final.pt")
dist.barrier()
dist.destroy_process_group()
