# expect: run.hang, dist.collective-mismatch
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
stage = nn.Linear(8, 16) if rank == 0 else nn.Linear(16, 1)
optimizer = torch.optim.SGD(stage.parameters(), lr=0.01)
for step in range(10):
    parts = torch.randn(4 if step < 8 else 3, 5, 8)
    optimizer.zero_grad()
    for micro in range(4):
        if rank == 0 and micro < len(parts):
            hidden = torch.relu(stage(parts[micro]))
            dist.send(hidden.detach(), 1)
            back = torch.empty_like(hidden)
            dist.recv(back, 1)
            hidden.backward(back)
        elif rank == 1:
            given = torch.empty(5, 16)
            dist.recv(given, 0)  # cause
            given.requires_grad_()
            stage(given).square().mean().backward()
            dist.send(given.grad, 0)
    optimizer.step()
dist.destroy_process_group()
