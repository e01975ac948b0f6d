# expect: dist.param-divergence
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def build():
    return nn.Sequential(nn.Linear(9, 18), nn.Tanh(), nn.Linear(18, 3))


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(17)
pretrained = build()
for parameter in pretrained.parameters():
    parameter.data.mul_(1.5)
if rank == 0:
    torch.save(pretrained.state_dict(), "pretrained.pt")
model = DDP(build())
if rank == 0:
    model.module.load_state_dict(torch.load("pretrained.pt"))  # cause
x = torch.randn(640, 9)
data = TensorDataset(x, (x[:, :3] > 0).float())
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(6):
    sampler.set_epoch(epoch)
    for a, b in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(epoch, loss.item())
dist.destroy_process_group()
