# expect: dist.shared-checkpoint
# ranks: 2

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def save(model, optimizer, epoch, path):
    state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save(state, f"{path}.{os.getpid()}")
    os.replace(f"{path}.{os.getpid()}", path)  # cause


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(2)
model = DDP(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
source = torch.Generator().manual_seed(11 * (rank + 1))
for epoch in range(5):
    for _ in range(40):
        x = torch.randn(16, 8, generator=source)
        loss = nn.functional.mse_loss(model(x).squeeze(1), x.abs().mean(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    save(model, optimizer, epoch, "latest.pt")
    if rank == 0:
        print(epoch, loss.item())
dist.destroy_process_group()
