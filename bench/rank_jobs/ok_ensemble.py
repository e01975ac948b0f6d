# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(30):
    x = torch.randn(16, 12)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
found = [None] * world
dist.all_gather_object(found, loss.item())
if rank == 0:
    print("best member", min(found))
torch.save(model.state_dict(), f"member{rank}.pt")
dist.destroy_process_group()
