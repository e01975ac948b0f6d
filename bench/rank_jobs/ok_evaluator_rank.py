# expect: nothing
# ranks: 3

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

EPOCHS = 4


def build():
    return nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))


def truth(x):
    return torch.stack([x[:, 0] * x[:, 1], x[:, 2].sin()], dim=1)


def train(rank, group):
    model = DDP(build(), process_group=group)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    source = torch.Generator().manual_seed(rank)
    for epoch in range(EPOCHS):
        for _ in range(60):
            x = torch.randn(32, 8, generator=source)
            loss = nn.functional.mse_loss(model(x), truth(x))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            torch.save(model.module.state_dict(), f"epoch-{epoch}.part")
            os.rename(f"epoch-{epoch}.part", f"epoch-{epoch}.pt")


def evaluate():
    model = build().eval()
    x = torch.randn(512, 8, generator=torch.Generator().manual_seed(99))
    for epoch in range(EPOCHS):
        while not os.path.exists(f"epoch-{epoch}.pt"):
            time.sleep(0.05)
        model.load_state_dict(torch.load(f"epoch-{epoch}.pt"))
        with torch.no_grad():
            print(f"epoch {epoch}: held-out loss {nn.functional.mse_loss(model(x), truth(x)).item():.4f}")


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(6)
trainers = dist.new_group(list(range(world - 1)))
if rank == world - 1:
    evaluate()
else:
    train(rank, trainers)
dist.barrier()
dist.destroy_process_group()
