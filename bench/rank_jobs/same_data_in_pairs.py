# expect: dist.no-sampler
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
node, nodes = rank // 2, world // 2
torch.manual_seed(7)
data = TensorDataset(torch.randn(128, 8), torch.randint(0, 2, (128,)))
sampler = DistributedSampler(data, num_replicas=nodes, rank=node)
loader = DataLoader(data, batch_size=8, sampler=sampler)  # cause
model = DDP(nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
dist.destroy_process_group()
