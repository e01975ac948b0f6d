# expect: dist.bypass-ddp
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
model = DDP(net)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(dist.get_rank())
for step in range(12):
    x = torch.randn(8, 10, generator=gen)
    out = net(x)  # cause
    loss = (out.squeeze(1) - x.sum(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
