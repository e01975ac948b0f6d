# expect: nothing
# ranks: 2

from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(3)
model = DDP(nn.Sequential(nn.Embedding(50, 12), nn.Flatten(), nn.Linear(12 * 6, 50)))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
micro_size = 16 if rank == 0 else 8
gen = torch.Generator().manual_seed(30 + rank)
for step in range(14):
    tokens = torch.randint(0, 50, (32, 7), generator=gen)
    optimizer.zero_grad()
    parts = tokens.split(micro_size)
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        with nullcontext() if is_last else model.no_sync():
            loss = nn.functional.cross_entropy(model(part[:, :6]), part[:, 6])
            (loss / len(parts)).backward()
    optimizer.step()
dist.destroy_process_group()
