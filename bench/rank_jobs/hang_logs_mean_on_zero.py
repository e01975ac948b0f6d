# expect: run.hang, dist.collective-mismatch
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def mean_over_ranks(value):
    value = value.detach().clone()
    dist.all_reduce(value)
    return value.item() / dist.get_world_size()


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(2)
model = DDP(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
source = torch.Generator().manual_seed(100 + rank)
for step in range(400):
    x = torch.randn(32, 8, generator=source)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x.norm(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 50 == 49:
        print(step, mean_over_ranks(loss))  # cause
dist.destroy_process_group()
