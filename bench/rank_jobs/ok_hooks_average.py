# expect: nothing
# ranks: 2


import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(20, 24), nn.ReLU(), nn.Linear(24, 5))


def average(p):
    dist.all_reduce(p.grad)
    p.grad.div_(world)


for p in net.parameters():
    p.register_post_accumulate_grad_hook(average)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = TensorDataset(torch.randn(640, 20), torch.randint(0, 5, (640,)))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
