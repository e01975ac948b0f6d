# expect: nothing
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(8, 16)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))
        self.out = nn.Linear(16, 1)

    def forward(self, x, which):
        return self.out(torch.relu(self.experts[which](torch.relu(self.inside(x))))).squeeze(1)


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(9)
model = DDP(Experts(), find_unused_parameters=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(50 + rank)
for step in range(24):
    x = torch.randn(12, 8, generator=gen)
    which = int(torch.randint(0, 3, (1,), generator=gen))
    loss = nn.functional.mse_loss(model(x, which), x[:, which] * x.mean(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
