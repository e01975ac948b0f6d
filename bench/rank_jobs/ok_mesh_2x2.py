# expect: nothing
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))
data, part = mesh["data"].get_group(), mesh["model"].get_local_rank()
torch.manual_seed(part)
net = DDP(nn.Linear(8, 4), process_group=data)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
gen = torch.Generator().manual_seed(mesh["data"].get_local_rank())
for step in range(20):
    x = torch.randn(16, 8, generator=gen)
    out = net(x)
    both = [torch.zeros_like(out) for _ in range(2)]
    dist.all_gather(both, out.detach(), group=mesh["model"].get_group())
    loss = (out + both[1 - part] - x[:, :4]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
