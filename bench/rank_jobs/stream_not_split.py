# expect: dist.no-sampler
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    """Splits itself between the workers of a loader, and forgets the ranks."""

    def __init__(self, count):
        self.count = count

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for number in range(first, self.count, step):
            source = torch.Generator().manual_seed(number)
            x = torch.randn(12, generator=source)
            yield x, x.abs().sum()


torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
loader = DataLoader(Lines(600), batch_size=10, num_workers=2)  # cause
model = DDP(nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.smooth_l1_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
dist.destroy_process_group()
