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
net = DDP(nn.Sequential(nn.Linear(20, 24), nn.ReLU(), nn.Linear(24, 5)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = TensorDataset(torch.randn(640, 20), torch.randint(0, 5, (640,)))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler)
every = 4
for epoch in range(3):
    sampler.set_epoch(epoch)
    for number, (x, y) in enumerate(loader):
        with net.no_sync():  # cause
            loss = nn.functional.cross_entropy(net(x), y) / every
            loss.backward()
        if (number + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
dist.destroy_process_group()
