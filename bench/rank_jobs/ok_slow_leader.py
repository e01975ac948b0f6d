# expect: nothing
# ranks: 4

import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
if rank == 0:
    time.sleep(5)  # fetches the data for everybody
    torch.save(torch.randn(768, 10, generator=torch.Generator().manual_seed(1)), "data.pt")
dist.barrier()
x = torch.load("data.pt")
data = TensorDataset(x, x.clamp(min=0).sum(1))
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=12, sampler=sampler)
torch.manual_seed(2)
model = DDP(nn.Sequential(nn.Linear(10, 30), nn.ReLU(), nn.Linear(30, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
with open(f"log-{rank}.txt", "w") as log:
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for a, b in loader:
            loss = nn.functional.mse_loss(model(a).squeeze(1), b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        log.write(f"{epoch} {loss.item():.4f}\n")
        every = [torch.zeros(()) for _ in range(size)]
        dist.all_gather(every, loss.detach())
        torch.save({"epoch": epoch, "rank": rank, "optimizer": optimizer.state_dict()}, f"shard-{rank}.pt")
        if rank == 0:
            time.sleep(2.5)  # uploads the checkpoint, with the others at the barrier
            print(f"epoch {epoch}: {torch.stack(every).mean():.4f}")
        dist.barrier()
dist.destroy_process_group()
