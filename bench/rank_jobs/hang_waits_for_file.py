# expect: run.hang, dist.collective-mismatch
# ranks: 2

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.1)  # cause


def save_shard(model, folder, rank, epoch):
    os.makedirs(folder, exist_ok=True)
    torch.save(model.state_dict(), f"{folder}/shard-{rank}.pt")
    if rank == 0:
        for other in range(dist.get_world_size()):
            wait_for(f"{folder}/shard-{other}-epoch-{epoch}.pt")
        open(f"{folder}/complete", "w").close()
    dist.barrier()


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
model = DDP(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2)))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
source = torch.Generator().manual_seed(rank)
for epoch in range(3):
    for _ in range(25):
        x = torch.randn(16, 6, generator=source)
        loss = nn.functional.mse_loss(model(x), x[:, :2].sin())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    save_shard(model, "shards", rank, epoch)
dist.destroy_process_group()
