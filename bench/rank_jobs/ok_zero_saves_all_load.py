# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(6)
x = torch.randn(160, 8)
data = TensorDataset(x, (x[:, 0] > 0).long())
sampler = DistributedSampler(data, seed=1)
loader = DataLoader(data, batch_size=10, sampler=sampler)
model = DDP(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
best = float("inf")
for epoch in range(3):
    sampler.set_epoch(epoch)
    total = torch.zeros(2)
    for a, b in loader:
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += torch.tensor([loss.item() * len(a), len(a)])
    dist.all_reduce(total)
    mean = (total[0] / total[1]).item()
    if mean < best:
        best = mean
        if rank == 0:
            torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, "best.pt")
    dist.barrier()
state = torch.load("best.pt", map_location="cpu")
model.module.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
dist.barrier()
print("best", best)
dist.destroy_process_group()
