# expect: dist.shared-log
# ranks: 2

import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
logging.basicConfig(level=logging.INFO, handlers=[logging.FileHandler("train.log")])  # cause
torch.manual_seed(0)
model = DDP(nn.Linear(10, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
gen = torch.Generator().manual_seed(rank)
for step in range(40):
    x = torch.randn(8, 10, generator=gen)
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logging.info("step %d loss %.4f", step, loss.item())
dist.destroy_process_group()
