# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
data = TensorDataset(torch.randn(88, 10), torch.randint(0, 3, (88,)))
loader = DataLoader(Subset(data, range(48) if rank == 0 else range(48, 88)), batch_size=8, shuffle=True)
model = DDP(nn.Linear(10, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
with model.join():
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
dist.destroy_process_group()
