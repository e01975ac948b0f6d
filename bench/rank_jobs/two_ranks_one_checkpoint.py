# expect: dist.shared-checkpoint
# ranks: 2
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DDP(nn.Linear(10, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(rank)
os.makedirs("checkpoints", exist_ok=True)
for epoch in range(3):
    for step in range(5):
        x = torch.randn(8, 10, generator=gen)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    torch.save({"model": model.module.state_dict(), "epoch": epoch}, "checkpoints/last.pt")  # cause
dist.destroy_process_group()
