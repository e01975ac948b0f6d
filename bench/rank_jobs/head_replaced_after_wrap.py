# expect: dist.wrap-order, dist.grads-not-averaged, dist.param-divergence
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.body(x))


torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(5)
x = torch.randn(640, 16)
data = TensorDataset(x, (x[:, :4].sum(1) > 0).long())
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=20, sampler=sampler)
model = DDP(Net(classes=10), find_unused_parameters=True)
model.module.head = nn.Linear(32, 2)  # cause
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(6):
    sampler.set_epoch(epoch)
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
