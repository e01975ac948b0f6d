# expect: run.hang, dist.collective-mismatch
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

torch.set_num_threads(1)


class Scans(Dataset):
    def __init__(self):
        self.x = torch.randn(240, 9)
        self.broken = {101}

    def __len__(self):
        return 240

    def __getitem__(self, i):
        if i in self.broken:
            raise OSError(f"scan {i} cannot be read")
        return self.x[i], self.x[i, 0] - self.x[i, 1]


dist.init_process_group("gloo")
torch.manual_seed(5)
scans = Scans()
loader = DataLoader(scans, batch_size=8, sampler=DistributedSampler(scans, shuffle=False))
model = DDP(nn.Sequential(nn.Linear(9, 12), nn.GELU(), nn.Linear(12, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
batches = iter(loader)
for _ in range(len(loader)):
    try:
        x, y = next(batches)
    except OSError:
        continue
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    loss.backward()
    optimizer.step()
total = loss.detach()
dist.all_reduce(total)  # cause
print("done", float(total))
dist.destroy_process_group()
