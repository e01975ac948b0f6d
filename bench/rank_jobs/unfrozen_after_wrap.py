# expect: dist.param-divergence
# ranks: 2


import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(20, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
head = nn.Linear(24, 5)
for p in body.parameters():
    p.requires_grad_(False)
net = DDP(nn.Sequential(body, head))  # cause
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
data = TensorDataset(torch.randn(640, 20), torch.randint(0, 5, (640,)))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler)
for epoch in range(4):
    sampler.set_epoch(epoch)
    if epoch == 1:
        for p in body.parameters():
            p.requires_grad_(True)
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
