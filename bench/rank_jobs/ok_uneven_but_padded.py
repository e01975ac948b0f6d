# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
gen = torch.Generator().manual_seed(rank)
count = [70, 58][rank]
x = torch.randn(count, 5, generator=gen)
y = x.sum(1)
longest = torch.tensor(count)
dist.all_reduce(longest, op=dist.ReduceOp.MAX)
missing = int(longest) - count
weight = torch.cat([torch.ones(count), torch.zeros(missing)])
x = torch.cat([x, torch.zeros(missing, 5)])
y = torch.cat([y, torch.zeros(missing)])
torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(4):
    order = torch.randperm(len(x), generator=gen)
    for start in range(0, len(x), 10):
        at = order[start : start + 10]
        kept = weight[at].sum()
        everywhere = kept.clone()
        dist.all_reduce(everywhere)
        error = (model(x[at]).squeeze(1) - y[at]).square()
        loss = 2 * (error * weight[at]).sum() / everywhere.clamp(min=1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
