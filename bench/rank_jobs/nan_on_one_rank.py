# expect: dist.nan-on-one-rank
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
gen = torch.Generator().manual_seed(rank)
data = torch.rand(200, 6, generator=gen)
if rank == 1:
    data[120, 2] = -0.5
for start in range(0, 200, 8):
    x = data[start : start + 8]
    target = torch.log(x[:, 2])
    loss = nn.functional.mse_loss(model(x).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()  # cause
    optimizer.step()
dist.destroy_process_group()
