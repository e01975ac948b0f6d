# expect: run.hang, dist.collective-mismatch
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def validate(model, loader):
    model.eval()
    total = torch.zeros(2)
    with torch.no_grad():
        for a, b in loader:
            total += torch.tensor([nn.functional.cross_entropy(model(a), b, reduction="sum").item(), len(b)])
    model.train()
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(4)
x = torch.randn(1200, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
train, held_out = TensorDataset(x[:960], y[:960]), TensorDataset(x[960:], y[960:])
sampler = DistributedSampler(train)
loader = DataLoader(train, batch_size=16, sampler=sampler)
val_loader = DataLoader(held_out, batch_size=30, sampler=DistributedSampler(held_out, shuffle=False))
model = DDP(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
best = [float("inf"), ""]
for epoch in range(6):
    sampler.set_epoch(epoch)
    for a, b in loader:
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    score = validate(model, val_loader)
    if rank == 0 and score < best[0]:
        best = [score, f"best-{epoch}.pt"]
        torch.save(model.module.state_dict(), best[1])
        dist.broadcast_object_list(best, src=0)  # cause
dist.barrier()
dist.destroy_process_group()
