# expect: dist.param-divergence
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(5)
net = nn.Linear(10, 1)  # cause
model = DDP(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
gen = torch.Generator().manual_seed(rank)
for step in range(40):
    x = torch.randn(16, 10, generator=gen)
    loss = nn.functional.mse_loss(model(x).squeeze(1), 3 * x.sum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 5 == 4:
        with torch.no_grad():
            net.weight.clamp_(-0.3, 0.3)
dist.destroy_process_group()
