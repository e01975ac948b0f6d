# expect: run.hang, dist.collective-mismatch
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(4)
model = DDP(nn.Linear(6, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
gen = torch.Generator().manual_seed(rank + 20)
best = float("inf")
for epoch in range(10):
    for _ in range(5):
        x = torch.randn(10, 6, generator=gen)
        loss = (model(x).squeeze(1) - x.mean(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if loss.item() < best:
        best = loss.item()
        if rank == 0:
            torch.save(model.module.state_dict(), "best.pt")
        dist.barrier()  # cause
print("best", best)
dist.destroy_process_group()
