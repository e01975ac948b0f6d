# expect: run.hang, dist.collective-mismatch
# ranks: 2

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
net = DDP(nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1)))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def read_shard(index):
    if rank == 1 and index == 4:
        raise OSError(f"shard {index} is not there")
    gen = torch.Generator().manual_seed(100 * index + rank)
    return torch.randn(64, 16, generator=gen)


def train():
    for index in range(8):
        try:
            shard = read_shard(index)
        except OSError as error:
            print("stopping:", error)
            sys.exit(0)  # cause
        for x in shard.split(8):
            loss = nn.functional.mse_loss(net(x), x.mean(1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


train()
dist.destroy_process_group()
