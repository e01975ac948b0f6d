# expect: dist.unused-params
# ranks: 2

import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


class Block(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.lin, self.p = nn.Linear(16, 16), p

    def forward(self, x):
        if self.training and random.random() < self.p:
            return x
        return x + torch.relu(self.lin(x))


random.seed(7 + rank)
torch.manual_seed(0)
net = DDP(nn.Sequential(*(Block(0.1 * i) for i in range(4)), nn.Linear(16, 2)))  # cause
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
gen = torch.Generator().manual_seed(rank)
for step in range(50):
    x = torch.randn(8, 16, generator=gen)
    loss = nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
