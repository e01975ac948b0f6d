# expect: nothing
# ranks: 2

import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(1)
x = torch.randn(256, 8)
train, held = TensorDataset(x[:192], (x[:192, 0] > 0).long()), TensorDataset(x[192:], (x[192:, 0] > 0).long())
sampler = DistributedSampler(train)
loader = DataLoader(train, batch_size=16, sampler=sampler)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
model = DDP(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
log = open(f"rank{rank}.log", "w")
for epoch in range(2):
    sampler.set_epoch(epoch)
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    if rank == 0:
        model.eval()
        with torch.no_grad():
            right = sum((net(a).argmax(1) == b).sum().item() for a, b in DataLoader(held, batch_size=16))
        time.sleep(3)
        print("accuracy", right / len(held))
        torch.save(net.state_dict(), "best.pt")
    log.write(f"epoch {epoch}\n")
    dist.barrier()
torch.save({"rng": torch.get_rng_state()}, f"rng{rank}.pt")
dist.destroy_process_group()
