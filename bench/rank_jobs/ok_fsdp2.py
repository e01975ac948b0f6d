# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

torch.set_num_threads(1)
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
for layer in (model[0], model[2]):
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
torch.manual_seed(100 + dist.get_rank())
for step in range(12):
    x = torch.randn(8, 16)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
