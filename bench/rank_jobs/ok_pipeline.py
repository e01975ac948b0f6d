# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(12 + rank)
stage = nn.Sequential(nn.Linear(8, 16), nn.ReLU()) if rank == 0 else nn.Linear(16, 1)
optimizer = torch.optim.SGD(stage.parameters(), lr=0.05)
gen = torch.Generator().manual_seed(77)
for step in range(15):
    x = torch.randn(12, 8, generator=gen)
    optimizer.zero_grad()
    if rank == 0:
        hidden = stage(x)
        dist.send(hidden.detach(), 1)
        back = torch.empty_like(hidden)
        dist.recv(back, 1)
        hidden.backward(back)
    else:
        given = torch.empty(12, 16)
        dist.recv(given, 0)
        given.requires_grad_()
        loss = nn.functional.mse_loss(stage(given).squeeze(1), x.sum(1))
        loss.backward()
        dist.send(given.grad, 0)
    optimizer.step()
dist.destroy_process_group()
