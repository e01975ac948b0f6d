# expect: nothing
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
x = torch.randn(800, 9)
y = torch.sin(x).sum(1, keepdim=True)
train, held_out = TensorDataset(x[:600], y[:600]), TensorDataset(x[600:], y[600:])
sampler = DistributedSampler(train)
loader = DataLoader(train, batch_size=15, sampler=sampler)
share = DataLoader(held_out, batch_size=50, sampler=DistributedSampler(held_out, shuffle=False))
model = DDP(nn.Sequential(nn.Linear(9, 40), nn.Tanh(), nn.Linear(40, 1)), gradient_as_bucket_view=True)
model.register_comm_hook(None, default_hooks.fp16_compress_hook)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05 * size, momentum=0.9)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
for epoch in range(8):
    sampler.set_epoch(epoch)
    model.train()
    for a, b in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
    model.eval()
    sums = torch.zeros(2, dtype=torch.float64)
    with torch.no_grad():
        for a, b in share:
            sums += torch.tensor([nn.functional.mse_loss(model(a), b, reduction="sum").item(), len(b)])
    dist.all_reduce(sums)
    plateau.step((sums[0] / sums[1]).item())
    if rank == 0:
        print(f"epoch {epoch}: val loss {sums[0] / sums[1]:.4f}")
dist.destroy_process_group()
