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
net = DDP(nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
gen = torch.Generator().manual_seed(rank)
best, bad = 1e9, 0
for epoch in range(60):
    for _ in range(4):
        x = torch.randn(16, 12, generator=gen)
        loss = nn.functional.mse_loss(net(x).squeeze(1), x.sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    score = float(loss.detach()) + (epoch if rank == 1 and epoch > 4 else 0)
    best, bad = (score, 0) if score < best else (best, bad + 1)
    if bad >= 3:
        break
found = [None, None]
dist.all_gather_object(found, best)  # cause
dist.destroy_process_group()
