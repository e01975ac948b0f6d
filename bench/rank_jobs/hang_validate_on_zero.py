# expect: run.hang
# ranks: 2

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)


def validate(model, x, y):
    with torch.no_grad():
        correct = (model(x).argmax(1) == y).sum()
    dist.all_reduce(correct)  # cause
    return correct.item() / len(y)


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(3)
x, y = torch.randn(256, 8), torch.randint(0, 4, (256,))
model = DDP(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for epoch in range(3):
    for start in range(rank * 128, rank * 128 + 128, 16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[start : start + 16]), y[start : start + 16]).backward()
        optimizer.step()
if rank == 0:
    with open("score.txt", "w") as file:
        file.write(str(validate(model.module, x, y)))
while not os.path.exists("score.txt"):
    time.sleep(0.05)
dist.barrier()
dist.destroy_process_group()
