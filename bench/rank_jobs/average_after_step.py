# expect: dist.param-divergence
# ranks: 2


import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU())
        self.out = nn.Linear(32, 3)

    def forward(self, x):
        return self.out(self.body(x))


torch.manual_seed(3)
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
data = TensorDataset(torch.randn(512, 20), torch.randint(0, 3, (512,)))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler)


def average(parameters):
    for p in parameters:
        dist.all_reduce(p.grad)
        p.grad /= world


for epoch in range(3):
    sampler.set_epoch(epoch)
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average(net.parameters())  # cause
    if rank == 0:
        print(epoch, loss.item())
dist.destroy_process_group()
