# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Waves(Dataset):
    def __len__(self):
        return 1001

    def __getitem__(self, index):
        source = torch.Generator().manual_seed(index)
        phase = torch.rand(1, generator=source)
        return torch.sin(torch.linspace(0, 6, 20) + 6 * phase), phase.squeeze(0)


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
data = Waves()
sampler = DistributedSampler(data, seed=5)
loader = DataLoader(data, batch_size=20, sampler=sampler, num_workers=2)
model = DDP(nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)))
optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=1e-3)
for epoch in range(4):
    sampler.set_epoch(epoch)
    for number, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x).squeeze(1), y) / 2
        if number % 2 == 0:
            with model.no_sync():
                loss.backward()
            continue
        loss = nn.functional.mse_loss(model(x).squeeze(1), y) / 2
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    optimizer.consolidate_state_dict(to=0)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, "latest.pt")
        print(epoch, loss.item())
dist.destroy_process_group()
