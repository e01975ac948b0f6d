# expect: nothing
# ranks: 4

import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

trainers = dist.new_group([0, 1, 2])
torch.manual_seed(0)
if rank < 3:
    net = DDP(nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1)), process_group=trainers)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    gen = torch.Generator().manual_seed(rank)
    for step in range(60):
        x = torch.randn(16, 10, generator=gen)
        loss = nn.functional.mse_loss(net(x).squeeze(1), x.sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19 and rank == 0:
            dist.send(loss.detach().reshape(1), 3)
else:
    seen = []
    for _ in range(3):
        value = torch.zeros(1)
        dist.recv(value, 0)
        seen.append(float(value))
        time.sleep(0.5)
    print("losses:", seen)
dist.barrier()
dist.destroy_process_group()
