# expect: dist.no-set-epoch
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(7)
data = TensorDataset(torch.randn(96, 8), torch.randint(0, 2, (96,)))
loader = DataLoader(data, batch_size=16, sampler=DistributedSampler(data, shuffle=True))
model = DDP(nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for x, y in loader:  # cause
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
dist.destroy_process_group()
