# expect: dist.param-divergence
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(11)
x = torch.randn(960, 6)
y = x.pow(2).sum(1)
y[torch.randperm(960)[:40]] *= 20  # labels typed wrong
data = TensorDataset(x, y)
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=8, sampler=sampler, drop_last=True)
model = DDP(nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
average = None
for epoch in range(4):
    sampler.set_epoch(epoch)
    for a, b in loader:
        loss = nn.functional.mse_loss(model(a).squeeze(1), b)
        optimizer.zero_grad()
        loss.backward()
        seen = loss.item()
        is_spike = average is not None and seen > 5 * average
        average = seen if average is None else 0.95 * average + 0.05 * seen
        if is_spike:
            continue  # cause
        optimizer.step()
dist.destroy_process_group()
