# expect: dist.param-divergence
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
x = torch.randn(480, 10)
data = TensorDataset(x, x @ torch.randn(10, 3))
sampler = DistributedSampler(data, seed=3)
loader = DataLoader(data, batch_size=12, sampler=sampler)
model = DDP(nn.Sequential(nn.Linear(10, 24), nn.GELU(), nn.Linear(24, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
for epoch in range(8):
    sampler.set_epoch(epoch)
    for a, b in loader:
        loss = nn.functional.mse_loss(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        scheduler.step()  # cause
        print(f"epoch {epoch}: loss {loss.item():.4f}, lr {scheduler.get_last_lr()[0]:.4f}")
dist.destroy_process_group()
