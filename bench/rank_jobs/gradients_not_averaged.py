# expect: dist.grads-not-averaged
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
gen = torch.Generator().manual_seed(50 + rank)
for step in range(30):
    x = torch.randn(16, 20, generator=gen)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1))
    optimizer.zero_grad()
    loss.backward()  # cause
    optimizer.step()
    shown = loss.detach().clone()
    dist.all_reduce(shown)
    if rank == 0 and step % 10 == 0:
        print(step, shown.item() / world)
dist.destroy_process_group()
