# expect: dist.metric-not-reduced
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
x = torch.randn(256, 8)
train, held = TensorDataset(x[:192], (x[:192, 0] > 0).long()), TensorDataset(x[192:], (x[192:, 0] > 0).long())
sampler = DistributedSampler(train)
loader = DataLoader(train, batch_size=16, sampler=sampler)
checks = DataLoader(held, batch_size=16, sampler=DistributedSampler(held, shuffle=False))
model = DDP(nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    sampler.set_epoch(epoch)
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for a, b in checks:  # cause
            correct += (model(a).argmax(1) == b).sum().item()
    if rank == 0:
        print("accuracy", correct / len(held))
dist.destroy_process_group()
