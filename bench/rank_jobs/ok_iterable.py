# expect: nothing
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset

torch.set_num_threads(1)


class Stream(IterableDataset):
    def __init__(self, rank, world):
        self.rank, self.world = rank, world

    def __iter__(self):
        gen = torch.Generator().manual_seed(6)
        for i in range(240):
            x = torch.randn(8, generator=gen)
            if i % self.world == self.rank:
                yield x, x.sum()


dist.init_process_group("gloo")
torch.manual_seed(1)
net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)))
model = DDP(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
loader = DataLoader(Stream(dist.get_rank(), dist.get_world_size()), batch_size=8)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x).squeeze(1), y).backward()
    optimizer.step()
dist.destroy_process_group()
