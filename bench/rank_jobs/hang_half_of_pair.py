# expect: run.hang
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
gen = torch.Generator().manual_seed(rank)
for step in range(12):
    x = torch.randn(8, 8, generator=gen)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x[:, 0] * x[:, 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
pair = dist.new_group([0, 1])
if rank == 0:
    score = loss.detach().clone()
    dist.all_reduce(score, group=pair)  # cause
    print("score", score.item() / 2)
dist.barrier()
dist.destroy_process_group()
