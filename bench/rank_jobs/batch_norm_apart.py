# expect: dist.local-batch-norm
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
model = DDP(net, broadcast_buffers=False)  # cause
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(rank)
for step in range(30):
    x = torch.randn(16, 10, generator=gen) + rank
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
with torch.no_grad():
    held = torch.randn(64, 10, generator=torch.Generator().manual_seed(9))
    print(rank, (model(held).argmax(1) == (held[:, 0] > 0).long()).float().mean().item())
dist.destroy_process_group()
