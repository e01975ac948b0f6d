# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DDP(nn.Sequential(nn.Linear(10, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 1)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
torch.manual_seed(10 + rank)
for step in range(12):
    optimizer.zero_grad()
    for micro in range(3):
        x = torch.randn(8, 10)
        loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1)) / 3
        if micro < 2:
            with model.no_sync():
                loss.backward()
        else:
            loss.backward()
    optimizer.step()
dist.destroy_process_group()
