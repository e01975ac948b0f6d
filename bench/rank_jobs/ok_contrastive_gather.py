# expect: nothing
# ranks: 4


import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
encoder = DDP(nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16)))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
data = TensorDataset(torch.randn(640, 12))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler, drop_last=True)
torch.manual_seed(1000 + rank)


def gather(z):
    parts = [torch.zeros_like(z) for _ in range(world)]
    dist.all_gather(parts, z.detach())
    parts[rank] = z
    return torch.cat(parts)


for epoch in range(3):
    sampler.set_epoch(epoch)
    for (x,) in loader:
        first = encoder(torch.cat([x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)]))
        a, b = nn.functional.normalize(first, dim=1).chunk(2)
        logits = a @ gather(b).T / 0.2
        loss = nn.functional.cross_entropy(logits, torch.arange(len(x)) + rank * len(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = loss.detach().clone()
    dist.reduce(total, 0)
    if rank == 0:
        print(epoch, float(total / world))
dist.destroy_process_group()
