# expect: dist.collective-mismatch, run.hang
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(100 + rank)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
for weight in net.parameters():
    dist.broadcast(weight.data, src=rank)  # cause
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(25):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(net(x), (x[:, 0] > x[:, 1]).long())
    optimizer.zero_grad()
    loss.backward()
    for weight in net.parameters():
        dist.all_reduce(weight.grad)
        weight.grad /= world
    optimizer.step()
print("loss", loss.item())
dist.destroy_process_group()
