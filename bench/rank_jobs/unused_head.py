# expect: dist.unused-params
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(10, 16)
        self.first = nn.Linear(16, 3)
        self.second = nn.Linear(16, 3)

    def forward(self, x):
        return self.first(torch.relu(self.body(x)))


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DDP(TwoHeads())  # cause
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(dist.get_rank())
for step in range(10):
    x = torch.randn(8, 10, generator=gen)
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
dist.destroy_process_group()
