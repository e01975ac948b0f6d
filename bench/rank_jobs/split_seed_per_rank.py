# expect: dist.seeds-differ
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.arange(160.0).reshape(160, 1).repeat(1, 8)
data = TensorDataset(x / 160, (x[:, 0] > 80).long())
torch.manual_seed(rank)
train, held = random_split(data, [128, 32])
sampler = DistributedSampler(train)
loader = DataLoader(train, batch_size=16, sampler=sampler)  # cause
model = DDP(nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
dist.destroy_process_group()
